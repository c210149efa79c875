using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Sealab
{
    /// <summary>Parses as much JSON as the format needs. .NET's own classes for JSON differ between its versions.</summary>
    internal sealed class Json
    {
        private readonly string s;
        private int at;

        internal Json(string s) { this.s = s; }

        private char Next()
        {
            while (" \n\r\t,:".IndexOf(s[at]) >= 0) at++;
            return s[at];
        }

        internal object Value()
        {
            switch (Next())
            {
                case '{':
                    var members = new Dictionary<string, object>();
                    for (at++; Next() != '}';) { var name = Text(); members[name] = Value(); }
                    at++;
                    return members;
                case '[':
                    var list = new List<object>();
                    for (at++; Next() != ']';) list.Add(Value());
                    at++;
                    return list;
                case '"':
                    return Text();
                default:
                    var from = at;
                    while (",]}\n ".IndexOf(s[at]) < 0) at++;
                    return Word(s.Substring(from, at - from));
            }
        }

        private static object Word(string word)
        {
            switch (word)
            {
                case "null": return null;
                case "true": return true;
                case "false": return false;
                default: return double.Parse(word, CultureInfo.InvariantCulture);
            }
        }

        private string Text()
        {
            Next();
            var text = new StringBuilder();
            for (at++; s[at] != '"'; at++)
            {
                if (s[at] != '\\') { text.Append(s[at]); continue; }
                var c = s[++at];
                if (c == 'u') { text.Append((char)Convert.ToUInt16(s.Substring(at + 1, 4), 16)); at += 4; continue; }
                var i = "bfnrt".IndexOf(c);
                text.Append(i < 0 ? c : "\b\f\n\r\t"[i]);
            }
            at++;
            return text.ToString();
        }
    }
}
