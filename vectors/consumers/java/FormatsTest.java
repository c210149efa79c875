import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Tests Formats with the vectors of its formats. */
final class FormatsTest {
    private FormatsTest() {}

    private static byte[] hex(Object s) { return HexFormat.of().parseHex((String) s); }

    static void run(String folder, List<String> failed) throws Exception {
        for (String design : List.of("fernet-0x80", "jwe-dir-a256gcm", "jwe-dir-a128cbc-hs256")) {
            Map<String, Object> file = Json.object(new Json(Files.readString(Path.of(folder, design + ".json"))).value());
            Map<String, Object> keys = Json.object(file.get("keys"));
            Map<Object, Map<String, Object>> known = new HashMap<>();
            List<?> tests = (List<?>) file.get("tests");
            for (Object o : tests) {
                Map<String, Object> t = Json.object(o);
                known.put(t.get("id"), t);
                // A scheme's test inherits omitted keys and times from the test that it is near.
                Map<String, Object> near = known.getOrDefault(t.get("near"), t);
                for (String name : List.of("keys", "now", "ttl")) if (near.get(name) != null) t.putIfAbsent(name, near.get(name));
                List<byte[]> ring = ((List<?>) t.get("keys")).stream().map(name -> hex(keys.get(name))).toList();
                String wrong = judge(design, ring, t);
                if (wrong != null) failed.add(t.get("id") + ": " + wrong + ": " + t.get("comment"));
            }
            if (tests.size() != (Double) file.get("number_of_tests")) failed.add(design + ": tests are missing");
            System.out.println(design + ": " + tests.size() + " tests");
        }
    }

    private static String judge(String design, List<byte[]> ring, Map<String, Object> t) throws Exception {
        boolean fernet = design.equals("fernet-0x80");
        Formats.Encryption enc = design.equals("jwe-dir-a256gcm") ? Formats.Encryption.A256GCM : Formats.Encryption.A128CBC_HS256;
        long now = fernet ? (long) Math.floor(Double.parseDouble((String) t.get("now"))) : 0;
        String token = (String) t.get("token");
        try {
            byte[] got = fernet ? Formats.openFernet(ring, token, now, Double.parseDouble((String) t.get("ttl"))) : Formats.openJwe(enc, ring.get(0), token);
            if (!t.get("expect").equals("accept") || !Arrays.equals(got, hex(t.get("released")))) return "accepted, want " + t.get("expect");
        } catch (Formats.Refused e) {
            // Formats accepts only its own header; the design accepts every header that names its encryption.
            boolean other = !fernet && !token.startsWith(enc.header + ".") && t.get("expect").equals("accept");
            if (!e.getMessage().equals(other ? "malformed" : t.get("stage"))) return "refused as " + e.getMessage() + ", want " + t.get("expect") + " " + t.get("stage");
        }
        if (!t.get("sealed").equals(true)) return null;
        byte[] seed = hex(t.get("seed"));
        String again = fernet ? Formats.fernet(ring.get(0), seed, now, hex(t.get("state"))) : Formats.jwe(enc, ring.get(0), seed, hex(t.get("payload")));
        return again.equals(token) ? null : "sealed another token";
    }
}
