using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;

using Members = System.Collections.Generic.Dictionary<string, object>;

namespace Sealab
{
    /// <summary>
    /// Reads sealab-vectors/1 and tests the library Formats with them. The folder of the files is in
    /// VECTORS, by default ../../files.
    /// </summary>
    public static class Vectors
    {
        private const string FernetDesign = "fernet-0x80", JweDesign = "jwe-dir-a128cbc-hs256";

        public static int Main()
        {
            var folder = Environment.GetEnvironmentVariable("VECTORS") ?? "../../files";
            var failed = new List<string>();
            foreach (var design in new[] { FernetDesign, JweDesign })
            {
                var file = (Members)new Json(File.ReadAllText(Path.Combine(folder, design + ".json"))).Value();
                var keys = (Members)file["keys"];
                var known = new Dictionary<string, Members>();
                var tests = ((List<object>)file["tests"]).Cast<Members>().ToList();
                foreach (var test in tests)
                {
                    known[(string)test["id"]] = test;
                    Complete(test, known);
                    var ring = ((List<object>)test["keys"]).Select(name => Hex(keys[(string)name])).ToList();
                    var wrong = Judge(design, ring, test);
                    if (wrong != null) failed.Add(test["id"] + ": " + wrong + ": " + Member(test, "comment"));
                }
                if (tests.Count != (double)file["number_of_tests"]) failed.Add(design + ": tests are missing");
                Console.WriteLine(design + ": " + tests.Count + " tests");
            }
            failed.ForEach(Console.WriteLine);
            return failed.Count == 0 ? 0 : 1;
        }

        /// <summary>Copies omitted keys and times of a scheme's test from the test that it is near.</summary>
        private static void Complete(Members test, IDictionary<string, Members> known)
        {
            var near = (string)Member(test, "near");
            if (near == null || !known.ContainsKey(near)) return;
            foreach (var name in new[] { "keys", "now", "ttl" })
                if (Member(test, name) == null && Member(known[near], name) != null) test[name] = known[near][name];
        }

        private static string Judge(string design, IList<byte[]> ring, Members test)
        {
            var fernet = design == FernetDesign;
            var now = fernet ? (long)Math.Floor(Number(test["now"])) : 0;
            var token = (string)test["token"];
            try
            {
                var got = fernet ? Formats.OpenFernet(ring, token, now, Number(test["ttl"])) : Formats.OpenJwe(ring[0], token);
                if ((string)test["expect"] != "accept" || !got.SequenceEqual(Hex(Member(test, "released")))) return "accepted, want " + test["expect"];
            }
            catch (RefusedException refused)
            {
                // Formats accepts only its own header; the design accepts every header that names its encryption.
                var other = !fernet && !token.StartsWith(Formats.Header + ".", StringComparison.Ordinal) && (string)test["expect"] == "accept";
                var stage = other ? "malformed" : (string)Member(test, "stage");
                if (refused.Message != stage) return "refused as " + refused.Message + ", want " + test["expect"] + " " + stage;
            }
            if (!true.Equals(test["sealed"])) return null;
            var seed = Hex(Member(test, "seed"));
            var again = fernet ? Formats.Fernet(ring[0], seed, now, Hex(Member(test, "state"))) : Formats.Jwe(ring[0], seed, Hex(Member(test, "payload")));
            return again == token ? null : "sealed another token";
        }

        private static object Member(Members members, string name)
        {
            object value;
            return members.TryGetValue(name, out value) ? value : null;
        }

        private static double Number(object text) { return double.Parse((string)text, CultureInfo.InvariantCulture); }

        private static byte[] Hex(object text)
        {
            var s = (string)text ?? "";
            return Enumerable.Range(0, s.Length / 2).Select(i => Convert.ToByte(s.Substring(2 * i, 2), 16)).ToArray();
        }
    }
}
