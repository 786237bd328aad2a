// The code of LinesParser.g4.

import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.TokenStream;

public abstract class LinesParserBase extends Parser {
    protected LinesParserBase(TokenStream input) {
        super(input);
    }

    /** Whether a closing brace or the end of the text is next. */
    protected boolean closingBracket() {
        var next = _input.LA(1);
        return next == LinesParser.CLOSE || next == Token.EOF;
    }
}
