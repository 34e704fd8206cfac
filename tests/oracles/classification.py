"""Class found in the prediction, with the skipping walk said without an index."""


def classification(prediction, answer, all_classes):
    found = [name for name in all_classes if name in prediction]
    left = []
    passed_over = False
    for name in found:
        proper_part = name in answer and name != answer
        if proper_part and not passed_over:
            passed_over = True  # dropped, and the next one is not looked at
        else:
            left.append(name)
            passed_over = False
    return 1 / len(left) if answer in left else 0.0
