"""Retrieved chunks that stand for a document, for the task longbench_v2_rag."""
