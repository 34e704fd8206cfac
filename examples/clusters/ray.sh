#!/bin/bash
# vLLM puts replicas on all nodes of a Ray cluster, and one run asks them all: no shards.
set -eu
: "${MODEL:=Qwen/Qwen3-8B}" "${REPLICAS:=8}" "${URL:=http://127.0.0.1:8000}"
: "${RUN:=--model longbench-api --model_args model=$MODEL,base_url=$URL/v1,endpoint=chat,num_concurrent=64 --tasks longbench_pro --apply_chat_template}"
vllm serve "$MODEL" --data-parallel-size "$REPLICAS" --data-parallel-backend ray &
server=$!
trap 'kill "$server"' EXIT
until curl --silent --fail "$URL/health"; do kill -0 "$server" && sleep 5; done
# shellcheck disable=SC2086
lm-eval-longbench run $RUN --output_path results --log_samples
