# frozen_string_literal: true

# Reads sealab-vectors/1 and tests, with Ruby's openssl and json,
#
#   two of the lab's codecs, read from their documentation:
#     token  = prefix || base64url(key-id[4] || rest)
#     key    = HKDF-SHA256(secret, no salt, label || " key", 32), key-id likewise, 4 bytes
#     hmac-sha256: rest = payload || HMAC-SHA256(key, prefix || key-id || payload)
#     aes-256-gcm: rest = nonce[12] || ciphertext || tag[16], associated data = prefix || key-id
#   and the format of the Ruby MCP SDK, as the SDK reads it (MCP::Server::RequestStateSecurity).
#
# The folder of the files is in VECTORS, by default ../../files.

require "json"
require "openssl"

# A refusal, with its stage as message. Skip is for tests that cannot run here.
Refused = Class.new(StandardError)
Skip = Class.new(StandardError)

def hex(text) = [text].pack("H*")
def encode(raw) = [raw].pack("m0").tr("+/", "-_").delete("=")

def decode64(text)
  text.unpack1("m0")
rescue ArgumentError
  raise Refused, "malformed"
end

# Accepts only the canonical spelling: decode, encode again, compare.
def decode(text)
  raw = decode64(text.tr("-_", "+/") + "=" * (-text.size % 4))
  encode(raw) == text ? raw : raise(Refused, "malformed")
end

def gcm(mode, key, nonce, text, data)
  c = OpenSSL::Cipher.new("aes-256-gcm").public_send(mode)
  c.key, c.iv = key, nonce
  c.auth_tag = text.byteslice(-16, 16) if mode == :decrypt
  c.auth_data = data
  body = mode == :decrypt ? text.byteslice(0, text.bytesize - 16) : text
  out = (body.empty? ? "".b : c.update(body)) + c.final
  mode == :encrypt ? out + c.auth_tag : out
rescue OpenSSL::Cipher::CipherError
  raise Refused, "unauthentic"
end

# One of the lab's codecs under a ring of secrets.
class Codec
  PREFIX = { "hmac-sha256" => "sh1.", "aes-256-gcm" => "sa1." }.freeze

  def initialize(design, secrets, _test = nil)
    raise ArgumentError, "a weak secret" if secrets.empty? || secrets.any? { |s| s.bytesize < 32 || s.bytes.uniq.size == 1 }

    @prefix, @encrypted = PREFIX.fetch(design), design == "aes-256-gcm"
    derive = ->(s, use, n) { OpenSSL::KDF.hkdf(s, salt: "", info: "sealab/#{design}/v1 #{use}", length: n, hash: "SHA256") }
    @keys = secrets.map { |s| [derive.(s, "key-id", 4), derive.(s, "key", 32)] }
    raise ArgumentError, "one key id twice" if @keys.map(&:first).uniq.size < @keys.size
  end

  def seal(nonce, payload)
    id, key = @keys.first
    rest = @encrypted ? nonce + gcm(:encrypt, key, nonce, payload, @prefix + id) : payload + mac(id, key, payload)
    @prefix + encode(id + rest)
  end

  def open(token)
    raise Refused, "malformed" unless token.start_with?(@prefix)

    raw = decode(token.delete_prefix(@prefix))
    raise Refused, "malformed" if raw.bytesize < (@encrypted ? 32 : 36)

    id, rest = raw.byteslice(0, 4), raw.byteslice(4..)
    _, key = @keys.find { |k| k.first == id } || raise(Refused, "unknown-key")
    return gcm(:decrypt, key, rest.byteslice(0, 12), rest.byteslice(12..), @prefix + id) if @encrypted

    payload, tag = rest.byteslice(0, rest.bytesize - 32), rest.byteslice(-32, 32)
    OpenSSL.fixed_length_secure_compare(mac(id, key, payload), tag) ? payload : raise(Refused, "unauthentic")
  end

  private

  def mac(id, key, payload) = OpenSSL::HMAC.digest("SHA256", key, @prefix + id + payload)
end

# The Ruby SDK's format with the binding and time of one test.
class SDK
  def initialize(_design, secrets, test = nil, ttl: "300")
    raise ArgumentError, "want one key of 32 bytes" unless secrets.size == 1 && secrets[0].bytesize == 32
    raise ArgumentError, "the time to live is not positive" unless Float(ttl).positive?

    @key, @test = secrets[0], test
  end

  def seal(_nonce, _state) = raise(Skip)

  def open(token)
    claims = parse(unseal(token))
    check(claims)
    claims[:s].is_a?(String) ? claims[:s].b : raise(Refused, "malformed")
  end

  private

  def unseal(token)
    raise Refused, "malformed" unless token.start_with?("v1.")

    text = token.delete_prefix("v1.").tr("-_", "+/")
    raw = decode64(text + "=" * (-text.bytesize % 4))
    raise Refused, "malformed" if raw.bytesize < 28

    gcm(:decrypt, @key, raw.byteslice(0, 12), raw.byteslice(12..), "v1.")
  end

  def parse(text)
    claims = JSON.parse(text, symbolize_names: true)
    claims.is_a?(Hash) ? claims : raise(Refused, "malformed")
  rescue JSON::ParserError, EncodingError
    raise Refused, "malformed"
  end

  def check(claims)
    b = @test["binding"]
    raise Refused, "malformed" unless claims[:v] == 1
    raise Refused, "expired" unless claims[:exp].is_a?(Integer) && Float(@test["now"]).floor <= claims[:exp]

    same = claims[:m] == b["method"] && claims[:t] == b["target"] && claims[:a] == digest(b["arguments"]) && claims[:aud] == b["audience"]
    raise Refused, "misbound" unless same
  end

  # Arguments that are not JSON never reach the SDK.
  def digest(raw)
    OpenSSL::Digest::SHA256.hexdigest(canonical((raw && JSON.parse(raw)) || {}))
  rescue JSON::ParserError
    raise Skip
  rescue JSON::GeneratorError
    raise Refused, "misbound"
  end

  def canonical(value)
    case value
    when Hash then "{#{value.sort_by { |k, _| k.to_s }.map { |k, v| "#{k.to_s.to_json}:#{canonical(v)}" }.join(",")}}"
    when Array then "[#{value.map { |v| canonical(v) }.join(",")}]"
    else value.to_json
    end
  end
end

def judge(reading, file, test)
  scheme = reading.new(file["design"], test["keys"].map { |name| hex(file["keys"][name]) }, test)
  begin
    got = scheme.open(test["token"])
    return "accepted, want #{test["expect"]} #{test["stage"]}" unless test["expect"] == "accept" && got == hex(test["released"])
  rescue Refused => e
    return "refused as #{e.message}, want #{test["expect"]} #{test["stage"]}" unless e.message == test["stage"]
  end
  return unless test["sealed"]

  "sealed another token" unless scheme.seal(hex(test["seed"].to_s), hex(test["payload"].to_s)) == test["token"]
rescue Skip
  nil
end

# Copies omitted parts of a test's setting from the test that it is near, and sets the SDK's answers.
def complete(tests)
  known = {}
  tests.each { |t| known[t["id"]] = (known[t["near"]] || {}).slice("keys", "options", "binding", "now", "ttl").merge(t) }
  known.values.map { |t| t.merge(t.dig("readings", "sdk") || {}) }
end

folder = ENV.fetch("VECTORS", File.expand_path("../../files", __dir__))
failed = []
{ "hmac-sha256" => Codec, "aes-256-gcm" => Codec, "mcp-rb" => SDK }.each do |design, reading|
  file = JSON.parse(File.read(File.join(folder, "#{design}.json")), max_nesting: false)
  tests = complete(file["tests"]).reject { |t| t["options"] || t["expect"] == "silent" } # the variants are the lab's own
  tests.each { |t| judge(reading, file, t)&.then { |wrong| failed << "#{t["id"]}: #{wrong}: #{t["comment"]}" } }
  failed << "#{design}: tests are missing" unless file["number_of_tests"] == file["tests"].size
  puts "#{design}: #{tests.size} tests"
end
puts failed
exit failed.empty?
