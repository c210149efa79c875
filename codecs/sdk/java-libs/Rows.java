import com.auth0.jwt.JWT;
import com.auth0.jwt.algorithms.Algorithm;
import com.google.crypto.tink.Aead;
import com.google.crypto.tink.CleartextKeysetHandle;
import com.google.crypto.tink.JsonKeysetReader;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.aead.AeadConfig;
import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.DirectDecrypter;
import com.nimbusds.jose.crypto.DirectEncrypter;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.crypto.PasswordBasedDecrypter;
import com.nimbusds.jose.crypto.PasswordBasedEncrypter;
import io.jsonwebtoken.Jwts;
import io.jsonwebtoken.security.Keys;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.SecretKey;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwe.JsonWebEncryption;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.keys.AesKey;
import org.jose4j.keys.HmacKey;
import org.jose4j.keys.PbkdfKey;

/**
 * Token libraries in Java, a row of a few lines each. A library that takes text or JSON gets a
 * payload as the text of the same bytes in Latin-1.
 */
final class Rows {
  interface Sealer { String seal(byte[] payload) throws Exception; }

  interface Unsealer { byte[] unseal(String token) throws Exception; }

  interface Opener { Opened open(byte[] key) throws Exception; }

  record Opened(Sealer sealer, Unsealer unsealer) {}

  /** A row: a class by whose jar the version is read, the kind of tokens, and the functions. */
  record Row(Class<?> library, boolean sealed, Opener opener, Map<String, Boolean> claims) {}

  static final class Refused extends Exception {
    Refused(String why) { super(why); }
  }

  static byte[] sized(byte[] key, int size) throws Refused {
    if (key.length != size) throw new Refused("got a key of " + key.length + " bytes, want " + size);
    return key;
  }

  /** The length in bytes of the tags of A256GCM and A128CBC-HS256 (RFC 7518, section 5). */
  static final int TAG_SIZE = 16;

  static String text(byte[] payload) { return new String(payload, StandardCharsets.ISO_8859_1); }

  static byte[] bytes(String state) { return state.getBytes(StandardCharsets.ISO_8859_1); }

  static Row row(String name) {
    switch (name) {
      case "nimbus-jws": return new Row(JWSObject.class, false, Rows::nimbusJWS, Map.of());
      case "nimbus-jwe": return new Row(JWEObject.class, true, key -> nimbusJWE(sized(key, 32), EncryptionMethod.A256GCM), Map.of());
      case "nimbus-jwe-cbc": return new Row(JWEObject.class, true, key -> nimbusJWE(sized(key, 32), EncryptionMethod.A128CBC_HS256), Map.of());
      case "nimbus-jwe-strict": return new Row(JWEObject.class, true, key -> strict(nimbusJWE(sized(key, 32), EncryptionMethod.A256GCM)), Map.of("canonical", true));
      case "nimbus-jwe-cbc-strict": return new Row(JWEObject.class, true, key -> strict(nimbusJWE(sized(key, 32), EncryptionMethod.A128CBC_HS256)), Map.of("canonical", true));
      case "nimbus-pbes2": return new Row(JWEObject.class, true, Rows::nimbusPBES2, Map.of("inert", false));
      case "jose4j-jws": return new Row(JsonWebSignature.class, false, Rows::jose4jJWS, Map.of());
      case "jose4j-jwe": return new Row(JsonWebEncryption.class, true, key -> jose4jJWE(new AesKey(sized(key, 32)), "dir", false), Map.of());
      case "jose4j-zip": return new Row(JsonWebEncryption.class, true, key -> jose4jJWE(new AesKey(sized(key, 32)), "dir", true), Map.of());
      case "jose4j-pbes2":
        return new Row(JsonWebEncryption.class, true,
            key -> jose4jJWE(new PbkdfKey(Base64.getEncoder().encodeToString(key)), "PBES2-HS256+A128KW", false), Map.of("inert", false));
      case "jjwt": return new Row(io.jsonwebtoken.impl.DefaultJwtBuilder.class, false, Rows::jjwt, Map.of());
      case "java-jwt": return new Row(JWT.class, false, Rows::javaJWT, Map.of());
      case "tink-aead": return new Row(Aead.class, true, key -> tink(sized(key, 32)), Map.of("canonical", true));
      default: throw new IllegalArgumentException("no row " + name);
    }
  }

  static Opened nimbusJWS(byte[] key) throws Exception {
    MACSigner signer = new MACSigner(key);
    MACVerifier verifier = new MACVerifier(key);
    return new Opened(p -> {
      JWSObject token = new JWSObject(new JWSHeader(JWSAlgorithm.HS256), new Payload(p));
      token.sign(signer);
      return token.serialize();
    }, t -> {
      JWSObject token = JWSObject.parse(t);
      if (!token.verify(verifier)) throw new SecurityException("verify");
      return token.getPayload().toBytes();
    });
  }

  static Opened nimbusJWE(byte[] key, EncryptionMethod method) throws Exception {
    DirectEncrypter encrypter = new DirectEncrypter(key);
    DirectDecrypter decrypter = new DirectDecrypter(key);
    return new Opened(p -> {
      JWEObject token = new JWEObject(new JWEHeader(JWEAlgorithm.DIR, method), new Payload(p));
      token.encrypt(encrypter);
      return token.serialize();
    }, t -> {
      JWEObject token = JWEObject.parse(t);
      token.decrypt(decrypter);
      return token.getPayload().toBytes();
    });
  }

  /**
   * The library behind the checks of its users that every segment is canonical base64url, and that the tag is whole: nimbus-jose-jwt
   * 10.10 takes the ciphertext and the tag of AES-GCM for one text, wherever they are divided.
   */
  static Opened strict(Opened library) {
    return new Opened(library.sealer(), t -> {
      byte[] last = {};
      for (String segment : t.split("\\.", -1)) {
        last = Base64.getUrlDecoder().decode(segment);
        if (!Base64.getUrlEncoder().withoutPadding().encodeToString(last).equals(segment)) throw new SecurityException("encoding");
      }
      if (last.length != TAG_SIZE) throw new SecurityException("tag");
      return library.unsealer().unseal(t);
    });
  }

  static Opened nimbusPBES2(byte[] key) {
    return new Opened(p -> {
      JWEObject token = new JWEObject(new JWEHeader(JWEAlgorithm.PBES2_HS256_A128KW, EncryptionMethod.A256GCM), new Payload(p));
      token.encrypt(new PasswordBasedEncrypter(key, 16, 2000));
      return token.serialize();
    }, t -> {
      JWEObject token = JWEObject.parse(t);
      token.decrypt(new PasswordBasedDecrypter(key));
      return token.getPayload().toBytes();
    });
  }

  static AlgorithmConstraints only(String... algorithms) {
    return new AlgorithmConstraints(AlgorithmConstraints.ConstraintType.PERMIT, algorithms);
  }

  static Opened jose4jJWS(byte[] key) {
    HmacKey secret = new HmacKey(key);
    return new Opened(p -> {
      JsonWebSignature token = new JsonWebSignature();
      token.setAlgorithmHeaderValue("HS256");
      token.setPayloadBytes(p);
      token.setKey(secret);
      return token.getCompactSerialization();
    }, t -> {
      JsonWebSignature token = new JsonWebSignature();
      token.setAlgorithmConstraints(only("HS256"));
      token.setCompactSerialization(t);
      token.setKey(secret);
      if (!token.verifySignature()) throw new SecurityException("verify");
      return token.getPayloadBytes();
    });
  }

  static Opened jose4jJWE(java.security.Key key, String algorithm, boolean zip) {
    return new Opened(p -> {
      JsonWebEncryption token = new JsonWebEncryption();
      token.setAlgorithmConstraints(only(algorithm));
      token.setAlgorithmHeaderValue(algorithm);
      token.setEncryptionMethodHeaderParameter("A256GCM");
      if (zip) token.enableDefaultCompression();
      if (key instanceof PbkdfKey) token.getHeaders().setObjectHeaderValue("p2c", 1000L);
      token.setPlaintext(p);
      token.setKey(key);
      return token.getCompactSerialization();
    }, t -> {
      JsonWebEncryption token = new JsonWebEncryption();
      token.setAlgorithmConstraints(only(algorithm));
      token.setCompactSerialization(t);
      token.setKey(key);
      return token.getPlaintextBytes();
    });
  }

  static Opened jjwt(byte[] key) {
    SecretKey secret = Keys.hmacShaKeyFor(key);
    return new Opened(p -> Jwts.builder().claim("state", text(p)).signWith(secret, Jwts.SIG.HS256).compact(),
        t -> bytes((String) Jwts.parser().verifyWith(secret).build().parseSignedClaims(t).getPayload().get("state")));
  }

  static Opened javaJWT(byte[] key) {
    Algorithm algorithm = Algorithm.HMAC256(key);
    return new Opened(p -> JWT.create().withClaim("state", text(p)).sign(algorithm),
        t -> bytes(JWT.require(algorithm).build().verify(t).getClaim("state").asString()));
  }

  static Opened tink(byte[] key) throws Exception {
    AeadConfig.register();
    byte[] proto = ByteBuffer.allocate(34).put((byte) 0x1a).put((byte) 0x20).put(key).array();
    String id = "1122334455";
    String keyset = "{\"primaryKeyId\":" + id + ",\"key\":[{\"keyData\":{\"typeUrl\":\"type.googleapis.com/google.crypto.tink.AesGcmKey\","
        + "\"keyMaterialType\":\"SYMMETRIC\",\"value\":\"" + Base64.getEncoder().encodeToString(proto)
        + "\"},\"outputPrefixType\":\"TINK\",\"keyId\":" + id + ",\"status\":\"ENABLED\"}]}";
    KeysetHandle handle = CleartextKeysetHandle.read(JsonKeysetReader.withString(keyset));
    Aead aead = handle.getPrimitive(Aead.class);
    return new Opened(p -> Base64.getUrlEncoder().withoutPadding().encodeToString(aead.encrypt(p, new byte[0])), t -> {
      byte[] raw = Base64.getUrlDecoder().decode(t);
      if (!Base64.getUrlEncoder().withoutPadding().encodeToString(raw).equals(t)) throw new SecurityException("encoding");
      return aead.decrypt(raw, new byte[0]);
    });
  }

  /** The guarantees of a row. */
  static Map<String, Boolean> guarantees(Row row) {
    Map<String, Boolean> all = new TreeMap<>();
    for (String name : List.of("integrity", "total", "byte-exact", "inert", "private-keys")) all.put(name, true);
    for (String name : List.of("canonical", "rotation", "key-separation", "key-committing", "sender-authenticated", "strong-keys", "uniform-refusal", "single-use")) all.put(name, false);
    all.put("confidentiality", row.sealed());
    all.put("fresh-nonces", row.sealed());
    all.put("nonce-misuse-resistant", !row.sealed());
    all.putAll(row.claims());
    return all;
  }
}
