#!/bin/bash
#SBATCH --job-name=longbench
#SBATCH --array=1-8
#SBATCH --gpus=1
#SBATCH --output=longbench-%a.log
# One shard an array task: sbatch slurm.sh. Once all are done:
#   lm-eval-longbench score results/shard-* --output results/scored
set -eu
: "${RUN:=--model vllm --model_args pretrained=Qwen/Qwen3-8B --tasks longbench_pro --apply_chat_template}"
# shellcheck disable=SC2086
lm-eval-longbench run $RUN --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --output_path "results/shard-$SLURM_ARRAY_TASK_ID" --log_samples
