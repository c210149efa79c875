using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace Sealab
{
    /// <summary>A refusal; its message is the stage: malformed, unknown-key, unauthentic or expired. Do not tell it to clients.</summary>
    public sealed class RefusedException : Exception
    {
        public RefusedException(string stage) : base(stage) { }
    }

    /// <summary>
    /// Opens and mints token formats using only the classes of .NET. It refuses every text but the canonical
    /// one. It is one file without dependencies, to be copied, for .NET Standard 2.0 and later.
    /// <code>
    /// Fernet         base64url padded(0x80 || seconds[8] || iv[16] || AES-128-CBC || HMAC-SHA256), key = mac[16] || aes[16]
    /// A128CBC-HS256  header ".." iv "." ciphertext "." tag (RFC 7516 with RFC 7518, section 5.2), key = mac[16] || aes[16]
    /// </code>
    /// </summary>
    public static class Formats
    {
        private const int Half = 16, Block = 16, FernetHead = 9, FernetTag = 32, JweTag = 16, Skew = 60;
        internal static readonly string Header = Url(Encoding.ASCII.GetBytes("{\"alg\":\"dir\",\"enc\":\"A128CBC-HS256\"}"));

        /// <summary>Mints a Fernet token at a second of Unix time with a random iv of 16 bytes.</summary>
        public static string Fernet(byte[] key, byte[] iv, long now, byte[] state)
        {
            var head = Join(new byte[] { 0x80 }, BigEndian(now));
            var signed = Join(head, iv, Cbc(key, iv, state, true));
            return Padded(Join(signed, Hmac(key, signed)));
        }

        /// <summary>Opens a Fernet token under the first key that authenticates it. It refuses tokens older than ttl seconds.</summary>
        public static byte[] OpenFernet(IEnumerable<byte[]> keys, string token, long now, double ttl)
        {
            var raw = Decode(token, Padded);
            if (raw.Length < FernetHead + 2 * Block + FernetTag || raw[0] != 0x80) throw new RefusedException("malformed");
            var signed = Part(raw, 0, raw.Length - FernetTag);
            foreach (var key in keys)
            {
                if (!Same(Hmac(key, signed), Part(raw, signed.Length, raw.Length))) continue;
                var minted = raw.Skip(1).Take(8).Aggregate(0L, (n, b) => unchecked(n << 8 | b));
                if (minted < 0 || minted + ttl < now || now + Skew < minted) throw new RefusedException("expired");
                return OpenCbc(key, Part(raw, FernetHead, FernetHead + Block), Part(raw, FernetHead + Block, signed.Length));
            }
            throw new RefusedException("unauthentic");
        }

        /// <summary>Mints a JWE with direct encryption, A128CBC-HS256, with a key of 32 bytes and a random iv of 16.</summary>
        public static string Jwe(byte[] key, byte[] iv, byte[] payload)
        {
            var body = Cbc(key, iv, payload, true);
            return Header + ".." + Url(iv) + "." + Url(body) + "." + Url(Tag(key, iv, body));
        }

        /// <summary>Opens a JWE with the header that Jwe writes. It refuses other headers as malformed.</summary>
        public static byte[] OpenJwe(byte[] key, string token)
        {
            var parts = token.Split('.');
            if (parts.Length != 5 || parts[1].Length != 0) throw new RefusedException("malformed");
            byte[] iv = Decode(parts[2], Url), body = Decode(parts[3], Url), tag = Decode(parts[4], Url);
            if (iv.Length != Block || tag.Length != JweTag || parts[0] != Header) throw new RefusedException("malformed");
            if (!Same(Tag(key, iv, body), tag)) throw new RefusedException("unauthentic");
            return OpenCbc(key, iv, body);
        }

        private static byte[] Tag(byte[] key, byte[] iv, byte[] body)
        {
            var data = Encoding.ASCII.GetBytes(Header);
            return Part(Hmac(key, Join(data, iv, body, BigEndian(8L * data.Length))), 0, JweTag);
        }

        private static byte[] OpenCbc(byte[] key, byte[] iv, byte[] body)
        {
            if (body.Length == 0 || body.Length % Block != 0) throw new RefusedException("unauthentic");
            try { return Cbc(key, iv, body, false); }
            catch (CryptographicException) { throw new RefusedException("unauthentic"); }
        }

        private static byte[] Cbc(byte[] key, byte[] iv, byte[] text, bool encrypt)
        {
            using (var aes = Aes.Create())
            {
                aes.Mode = CipherMode.CBC;
                aes.Padding = PaddingMode.PKCS7;
                var secret = Part(key, Half, key.Length);
                using (var transform = encrypt ? aes.CreateEncryptor(secret, iv) : aes.CreateDecryptor(secret, iv))
                    return transform.TransformFinalBlock(text, 0, text.Length);
            }
        }

        /// <summary>Returns HMAC-SHA256 under the first half of a key.</summary>
        private static byte[] Hmac(byte[] key, byte[] text)
        {
            using (var mac = new HMACSHA256(Part(key, 0, Half))) return mac.ComputeHash(text);
        }

        /// <summary>Compares in time that depends only on the lengths.</summary>
        internal static bool Same(byte[] a, byte[] b)
        {
            var difference = a.Length ^ b.Length;
            for (var i = 0; i < a.Length && i < b.Length; i++) difference |= a[i] ^ b[i];
            return difference == 0;
        }

        private static string Padded(byte[] raw) { return Convert.ToBase64String(raw).Replace('+', '-').Replace('/', '_'); }

        internal static string Url(byte[] raw) { return Padded(raw).TrimEnd('='); }

        /// <summary>Convert.FromBase64String skips white space and spare bits: decode, encode again, compare.</summary>
        internal static byte[] Decode(string text, Func<byte[], string> encode)
        {
            try
            {
                var full = text.TrimEnd('=').Replace('-', '+').Replace('_', '/');
                var raw = Convert.FromBase64String(full + new string('=', (4 - full.Length % 4) % 4));
                if (encode(raw) == text) return raw;
            }
            catch (FormatException) { }
            throw new RefusedException("malformed");
        }

        private static byte[] BigEndian(long n)
        {
            return Enumerable.Range(0, 8).Select(i => (byte)(n >> 56 - 8 * i)).ToArray();
        }

        internal static byte[] Part(byte[] raw, int from, int to) { return raw.Skip(from).Take(to - from).ToArray(); }

        internal static byte[] Join(params byte[][] parts) { return parts.SelectMany(p => p).ToArray(); }
    }
}
