SELECT member FROM {step}
