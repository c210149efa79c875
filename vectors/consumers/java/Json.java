import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses as much JSON as the format needs. */
final class Json {
    private final String s;
    private int at;

    Json(String s) { this.s = s; }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object o) { return (Map<String, Object>) o; }

    private char next() { while (" \n\r\t,:".indexOf(s.charAt(at)) >= 0) at++; return s.charAt(at); }

    Object value() {
        switch (next()) {
            case '{': { at++; Map<String, Object> m = new LinkedHashMap<>(); while (next() != '}') m.put(text(), value()); at++; return m; }
            case '[': { at++; List<Object> l = new ArrayList<>(); while (next() != ']') l.add(value()); at++; return l; }
            case '"': return text();
            default: { int from = at; while (",]}\n ".indexOf(s.charAt(at)) < 0) at++; return word(s.substring(from, at)); }
        }
    }

    private Object word(String w) { return w.equals("null") ? null : w.equals("true") || w.equals("false") ? (Object) w.equals("true") : Double.valueOf(w); }

    private String text() {
        next();
        StringBuilder b = new StringBuilder();
        for (at++; s.charAt(at) != '"'; at++) {
            if (s.charAt(at) != '\\') { b.append(s.charAt(at)); continue; }
            char c = s.charAt(++at);
            if (c == 'u') { b.append((char) Integer.parseInt(s.substring(at + 1, at + 5), 16)); at += 4; }
            else b.append("bfnrt".indexOf(c) < 0 ? c : "\b\f\n\r\t".charAt("bfnrt".indexOf(c)));
        }
        at++;
        return b.toString();
    }
}
