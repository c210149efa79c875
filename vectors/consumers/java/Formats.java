import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import javax.crypto.AEADBadTagException;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Opens and mints token formats of web frameworks using only the JCA. It is strict: it refuses
 * every text but the canonical one. It is one file without dependencies, to be copied.
 *
 * <pre>
 * Fernet   base64url padded(0x80 || seconds[8] || iv[16] || AES-128-CBC || HMAC-SHA256), key = mac[16] || aes[16]
 * JWE dir  header ".." iv "." ciphertext "." tag, A256GCM or A128CBC-HS256, key of 32 bytes
 * </pre>
 */
public final class Formats {
    private Formats() {}

    /** A refusal; its message is the stage: malformed, unauthentic or expired. Do not tell it to clients. */
    public static final class Refused extends Exception {
        Refused(String stage) { super(stage); }
    }

    /** The values of enc. */
    public enum Encryption {
        A256GCM("A256GCM", 12), A128CBC_HS256("A128CBC-HS256", 16);

        final String header;
        final int nonce;

        Encryption(String name, int nonce) {
            this.header = url().encodeToString(("{\"alg\":\"dir\",\"enc\":\"" + name + "\"}").getBytes(StandardCharsets.US_ASCII));
            this.nonce = nonce;
        }
    }

    private static final int FERNET = 0x80, SKEW = 60, MIN = 1 + 8 + 16 + 16 + 32, TAG = 16;

    /** Mints a Fernet token at a second of Unix time with a random iv of 16 bytes. */
    public static String fernet(byte[] key, byte[] iv, long now, byte[] state) throws GeneralSecurityException {
        byte[] head = ByteBuffer.allocate(9).put((byte) FERNET).putLong(now).array();
        byte[] signed = join(head, iv, cbc(Cipher.ENCRYPT_MODE, Arrays.copyOfRange(key, 16, 32), iv, state));
        return Base64.getUrlEncoder().encodeToString(join(signed, hmac(Arrays.copyOf(key, 16), signed)));
    }

    /** Opens a Fernet token under the first key that authenticates it. It refuses tokens older than ttl seconds. */
    public static byte[] openFernet(List<byte[]> keys, String token, long now, double ttl) throws Refused, GeneralSecurityException {
        byte[] raw = decode(Base64.getUrlDecoder(), Base64.getUrlEncoder(), token);
        if (raw.length < MIN || raw[0] != (byte) FERNET) throw new Refused("malformed");
        byte[] signed = Arrays.copyOf(raw, raw.length - 32), tag = Arrays.copyOfRange(raw, signed.length, raw.length);
        for (byte[] key : keys) {
            if (!MessageDigest.isEqual(hmac(Arrays.copyOf(key, 16), signed), tag)) continue;
            long minted = ByteBuffer.wrap(raw, 1, 8).getLong();
            if (minted < 0 || minted + ttl < now || now + SKEW < minted) throw new Refused("expired");
            return openCbc(key, Arrays.copyOfRange(raw, 9, 25), Arrays.copyOfRange(raw, 25, signed.length));
        }
        throw new Refused("unauthentic");
    }

    /** Mints a JWE with direct encryption and a random nonce of the encryption's length. */
    public static String jwe(Encryption enc, byte[] key, byte[] nonce, byte[] payload) throws GeneralSecurityException {
        byte[] body, tag;
        if (enc == Encryption.A256GCM) {
            byte[] sealed = gcm(Cipher.ENCRYPT_MODE, key, nonce, enc.header, payload);
            body = Arrays.copyOf(sealed, sealed.length - TAG);
            tag = Arrays.copyOfRange(sealed, body.length, sealed.length);
        } else {
            body = cbc(Cipher.ENCRYPT_MODE, Arrays.copyOfRange(key, 16, 32), nonce, payload);
            tag = tag(key, enc.header, nonce, body);
        }
        return enc.header + ".." + url().encodeToString(nonce) + "." + url().encodeToString(body) + "." + url().encodeToString(tag);
    }

    /** Opens a JWE with the header that {@link #jwe} writes. It refuses other headers as malformed. */
    public static byte[] openJwe(Encryption enc, byte[] key, String token) throws Refused, GeneralSecurityException {
        String[] parts = token.split(Pattern.quote("."), -1);
        if (parts.length != 5 || !parts[1].isEmpty()) throw new Refused("malformed");
        byte[] nonce = decodeUrl(parts[2]), body = decodeUrl(parts[3]), tag = decodeUrl(parts[4]);
        if (nonce.length != enc.nonce || tag.length != TAG || !parts[0].equals(enc.header)) throw new Refused("malformed");
        if (enc == Encryption.A256GCM) {
            try {
                return gcm(Cipher.DECRYPT_MODE, key, nonce, enc.header, join(body, tag));
            } catch (AEADBadTagException e) {
                throw new Refused("unauthentic");
            }
        }
        if (!MessageDigest.isEqual(tag(key, enc.header, nonce, body), tag)) throw new Refused("unauthentic");
        return openCbc(key, nonce, body);
    }

    /** Returns the tag of A128CBC-HS256 (RFC 7518, section 5.2.2.1). */
    private static byte[] tag(byte[] key, String header, byte[] nonce, byte[] body) throws GeneralSecurityException {
        byte[] data = header.getBytes(StandardCharsets.US_ASCII), bits = ByteBuffer.allocate(8).putLong(8L * data.length).array();
        return Arrays.copyOf(hmac(Arrays.copyOf(key, 16), join(data, nonce, body, bits)), TAG);
    }

    private static byte[] gcm(int mode, byte[] key, byte[] nonce, String header, byte[] text) throws GeneralSecurityException {
        Cipher c = Cipher.getInstance("AES/GCM/NoPadding");
        c.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * TAG, nonce));
        c.updateAAD(header.getBytes(StandardCharsets.US_ASCII));
        return c.doFinal(text);
    }

    private static byte[] openCbc(byte[] key, byte[] iv, byte[] text) throws Refused, GeneralSecurityException {
        try {
            return cbc(Cipher.DECRYPT_MODE, Arrays.copyOfRange(key, 16, 32), iv, text);
        } catch (IllegalBlockSizeException | BadPaddingException e) {
            throw new Refused("unauthentic");
        }
    }

    private static byte[] cbc(int mode, byte[] key, byte[] iv, byte[] text) throws GeneralSecurityException {
        Cipher c = Cipher.getInstance("AES/CBC/PKCS5Padding");
        c.init(mode, new SecretKeySpec(key, "AES"), new IvParameterSpec(iv));
        return c.doFinal(text);
    }

    private static byte[] hmac(byte[] key, byte[] text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text);
    }

    private static Base64.Encoder url() { return Base64.getUrlEncoder().withoutPadding(); }

    private static byte[] decodeUrl(String text) throws Refused { return decode(Base64.getUrlDecoder(), url(), text); }

    /** The JDK's decoder accepts missing padding and spare bits: decode, encode again, compare. */
    private static byte[] decode(Base64.Decoder decoder, Base64.Encoder encoder, String text) throws Refused {
        try {
            byte[] raw = decoder.decode(text);
            if (encoder.encodeToString(raw).equals(text)) return raw;
        } catch (IllegalArgumentException e) {
            // refused below
        }
        throw new Refused("malformed");
    }

    private static byte[] join(byte[]... parts) {
        ByteBuffer out = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(p -> p.length).sum());
        for (byte[] p : parts) out.put(p);
        return out.array();
    }
}
