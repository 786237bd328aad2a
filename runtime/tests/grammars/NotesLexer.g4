lexer grammar NotesLexer;

TEXT: ~'<'+;
OPEN: '<' -> pushMode(TAG);

mode TAG;

NAME: [a-z]+;
CLOSE: '>' -> popMode;
BLANK: ' ' -> skip;
