import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Reads sealab-vectors/1 and tests an implementation of two of the lab's codecs with the JCA:
 *
 * <pre>
 * token  = prefix || base64url(key-id[4] || rest)
 * key    = HKDF-SHA256(secret, no salt, label || " key", 32)
 * key-id = HKDF-SHA256(secret, no salt, label || " key-id", 4)
 * hmac-sha256: rest = payload || HMAC-SHA256(key, prefix || key-id || payload)
 * aes-256-gcm: rest = nonce[12] || ciphertext || tag[16], associated data = prefix || key-id
 * </pre>
 *
 * FormatsTest tests the library Formats with the vectors of web frameworks' formats. The
 * folder of the files is in VECTORS, by default ../../files.
 */
public final class Vectors {
    private static final int MIN_SECRET = 32, ID = 4, NONCE = 12, TAG = 16, MAC = 32;

    /** A refusal, with its stage as message. */
    private static final class Refused extends Exception {
        Refused(String stage) { super(stage); }
    }

    private record Key(byte[] id, byte[] key) {}

    /** A ring of keys under one design: the first seals, every one opens. */
    private record Ring(String prefix, boolean encrypted, List<Key> keys) {
        static Ring of(String design, List<byte[]> secrets) throws GeneralSecurityException {
            List<Key> keys = new ArrayList<>();
            for (byte[] secret : secrets) {
                boolean constant = true;
                for (byte b : secret) constant &= b == secret[0];
                if (secret.length < MIN_SECRET || constant) throw new IllegalArgumentException("a weak secret");
                Key key = new Key(derive(secret, design, " key-id", ID), derive(secret, design, " key", 32));
                if (keys.stream().anyMatch(k -> Arrays.equals(k.id, key.id))) throw new IllegalArgumentException("one key id twice");
                keys.add(key);
            }
            if (keys.isEmpty()) throw new IllegalArgumentException("no secret");
            boolean encrypted = design.equals("aes-256-gcm");
            return new Ring(encrypted ? "sa1." : "sh1.", encrypted, keys);
        }

        String seal(byte[] nonce, byte[] payload) throws GeneralSecurityException {
            Key k = keys.get(0);
            byte[] rest = encrypted ? join(nonce, gcm(Cipher.ENCRYPT_MODE, k, nonce, payload)) : join(payload, mac(k, payload));
            return prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(join(k.id, rest));
        }

        byte[] open(String token) throws Refused, GeneralSecurityException {
            if (!token.startsWith(prefix)) throw new Refused("malformed");
            byte[] raw = decode(token.substring(prefix.length()));
            if (raw.length < ID + (encrypted ? NONCE + TAG : MAC)) throw new Refused("malformed");
            byte[] id = Arrays.copyOf(raw, ID), rest = Arrays.copyOfRange(raw, ID, raw.length);
            Key k = keys.stream().filter(key -> Arrays.equals(key.id, id)).findFirst().orElseThrow(() -> new Refused("unknown-key"));
            if (encrypted) {
                try {
                    return gcm(Cipher.DECRYPT_MODE, k, Arrays.copyOf(rest, NONCE), Arrays.copyOfRange(rest, NONCE, rest.length));
                } catch (javax.crypto.AEADBadTagException e) {
                    throw new Refused("unauthentic");
                }
            }
            byte[] payload = Arrays.copyOf(rest, rest.length - MAC);
            if (!MessageDigest.isEqual(mac(k, payload), Arrays.copyOfRange(rest, payload.length, rest.length))) throw new Refused("unauthentic");
            return payload;
        }

        private byte[] data(Key k) { return join(ascii(prefix), k.id); }

        private byte[] mac(Key k, byte[] payload) throws GeneralSecurityException { return hmac(k.key, join(data(k), payload)); }

        private byte[] gcm(int mode, Key k, byte[] nonce, byte[] text) throws GeneralSecurityException {
            Cipher c = Cipher.getInstance("AES/GCM/NoPadding");
            c.init(mode, new SecretKeySpec(k.key, "AES"), new GCMParameterSpec(8 * TAG, nonce));
            c.updateAAD(data(k));
            return c.doFinal(text);
        }
    }

    /** The JDK's decoder accepts padding and spare bits: decode, encode again, compare. */
    private static byte[] decode(String text) throws Refused {
        try {
            byte[] raw = Base64.getUrlDecoder().decode(text);
            if (Base64.getUrlEncoder().withoutPadding().encodeToString(raw).equals(text)) return raw;
        } catch (IllegalArgumentException e) {
            // refused below
        }
        throw new Refused("malformed");
    }

    private static byte[] derive(byte[] secret, String design, String use, int n) throws GeneralSecurityException {
        byte[] info = ascii("sealab/" + design + "/v1" + use);
        return Arrays.copyOf(hmac(hmac(new byte[32], secret), join(info, new byte[] {1})), n);
    }

    private static byte[] hmac(byte[] key, byte[] text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text);
    }

    private static byte[] join(byte[] a, byte[] b) {
        byte[] out = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, out, a.length, b.length);
        return out;
    }

    private static byte[] ascii(String s) { return s.getBytes(java.nio.charset.StandardCharsets.US_ASCII); }

    private static byte[] hex(Object s) { return HexFormat.of().parseHex((String) s); }

    public static void main(String[] args) throws Exception {
        String folder = System.getenv().getOrDefault("VECTORS", "../../files");
        List<String> failed = new ArrayList<>();
        for (String design : List.of("hmac-sha256", "aes-256-gcm")) {
            Map<String, Object> file = Json.object(new Json(Files.readString(Path.of(folder, design + ".json"))).value());
            for (Object o : (List<?>) file.get("rings")) {
                Map<String, Object> r = Json.object(o);
                boolean taken = true;
                try { Ring.of(design, ((List<?>) r.get("secrets")).stream().map(Vectors::hex).toList()); } catch (IllegalArgumentException e) { taken = false; }
                if (taken != r.get("expect").equals("accept")) failed.add(r.get("id") + ": want " + r.get("expect"));
            }
            List<?> tests = (List<?>) file.get("tests");
            for (Object o : tests) {
                Map<String, Object> t = Json.object(o);
                String wrong = judge(design, Json.object(file.get("keys")), t);
                if (wrong != null) failed.add(t.get("id") + ": " + wrong + ": " + t.get("comment"));
            }
            if (tests.size() != (Double) file.get("number_of_tests")) failed.add(design + ": tests are missing");
            System.out.println(design + ": " + tests.size() + " tests");
        }
        FormatsTest.run(folder, failed);
        failed.forEach(System.out::println);
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    private static String judge(String design, Map<String, Object> keys, Map<String, Object> t) throws GeneralSecurityException {
        Ring ring = Ring.of(design, ((List<?>) t.get("keys")).stream().map(name -> hex(keys.get(name))).toList());
        try {
            byte[] got = ring.open((String) t.get("token"));
            if (!t.get("expect").equals("accept") || !Arrays.equals(got, hex(t.get("released")))) return "accepted, want " + t.get("expect");
        } catch (Refused e) {
            if (!e.getMessage().equals(t.get("stage"))) return "refused as " + e.getMessage() + ", want " + t.get("expect") + " " + t.get("stage");
        }
        boolean again = !t.get("sealed").equals(true) || ring.seal(hex(t.getOrDefault("seed", "")), hex(t.get("payload"))).equals(t.get("token"));
        return again ? null : "sealed another token";
    }
}
