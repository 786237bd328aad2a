grammar JSON;
json : value EOF ;
value : '{' (pair (',' pair)*)? '}' | '[' (value (',' value)*)? ']' | STRING | NUMBER ;
pair : STRING ':' value ;
STRING : '"' [a-z]* '"' ;
NUMBER : [1-9] [0-9]* ;
WS : [ \t\r\n]+ -> skip ;
