#!/bin/bash
# One shard a host, all in one shared folder: HOSTS="gpu1 gpu2 gpu3" bash ssh.sh
set -eu
: "${HOSTS:=gpu1 gpu2 gpu3}" "${SSH:=ssh}"
: "${RUN:=--model vllm --model_args pretrained=Qwen/Qwen3-8B --tasks longbench_pro --apply_chat_template}"
read -ra hosts <<< "$HOSTS"
jobs=()
for number in "${!hosts[@]}"; do
  piece=$((number + 1))
  $SSH "${hosts[$number]}" "cd '$PWD' && lm-eval-longbench run $RUN \
    --shard $piece/${#hosts[@]} --output_path results/shard-$piece --log_samples" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
lm-eval-longbench score results/shard-* --output results/scored
