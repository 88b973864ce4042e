"""The words of the chat screen itself."""

PLACEHOLDER = "Type a message, / for commands, @ for files, ! for a shell"
SHORT_PLACEHOLDER = "Type a message, / commands, @ files, ! shell"
LOOKING_FOR_A_MODEL = "looking for a model …"
