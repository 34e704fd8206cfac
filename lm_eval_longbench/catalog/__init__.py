"""What the task files say: tasks, tables, groups and data of every benchmark."""
