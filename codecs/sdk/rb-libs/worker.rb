# Token libraries in Ruby as sealab workers, protocol 1: the first argument names a row
# of the table.
#
# A row is a function from the ring to a pair: seal takes a payload and returns a token,
# unseal takes a token and returns the payload or raises. Schemes also take the time to
# live.

require "base64"
require "json"
require "set"
require "active_support"
require "active_support/message_encryptor"
require "active_support/message_verifier"
require "active_support/core_ext"

class Refused < StandardError; end

# The time of a request in place of the machine's.
class Time
  class << self
    attr_accessor :sealab
    alias_method :machine, :now
    def now = sealab || machine
  end
end

COMMON = {
  "integrity" => true, "total" => true, "byte-exact" => true, "inert" => true, "private-keys" => true,
  "canonical" => false, "rotation" => false, "key-separation" => false, "key-committing" => false,
  "sender-authenticated" => false, "strong-keys" => false, "uniform-refusal" => true, "single-use" => false,
}.freeze
SIGNED = { "confidentiality" => false, "nonce-misuse-resistant" => true, "fresh-nonces" => false }.freeze
SEALED = { "confidentiality" => true, "nonce-misuse-resistant" => false, "fresh-nonces" => true }.freeze
UNBOUND = %w[method target arguments principal audience].to_h { |name| ["binds-#{name}", false] }
  .merge("unambiguous" => false, "expiry" => false, "unlinkable" => true).freeze

Row = Struct.new(:gem, :scheme, :claims, :new)

def one(ring, size = 0)
  raise Refused, "got #{ring.length} keys, want 1: the library has no ring" unless ring.length == 1
  raise Refused, "got a key of #{ring[0].length} bytes, want #{size}" unless size.zero? || ring[0].length == size
  ring[0]
end

def check(value)
  raise ArgumentError, "no value" if value.nil?
  value
end

# Null is the serializer of encrypted cookies: the value is the text.
NULL = ActiveSupport::MessageEncryptor::NullSerializer

# rotated adds the other keys of a ring.
def rotated(coder, ring, **options)
  ring.drop(1).each { |key| coder.rotate(key, **options) }
  coder
end

def encryptor(ring, cipher)
  raise Refused, "want keys of 32 bytes" if ring.empty? || ring.any? { |key| key.length != 32 }
  rotated(ActiveSupport::MessageEncryptor.new(ring[0], cipher: cipher, serializer: NULL), ring)
end

def encrypted(cipher)
  lambda do |ring|
    coder = encryptor(ring, cipher)
    # Ruby encrypts no empty text.
    [->(p) { coder.encrypt_and_sign("s" + p) }, ->(t) { check(coder.decrypt_and_verify(t)).delete_prefix("s") }]
  end
end

TABLE = {
  "rails-encryptor" => Row.new("activesupport", true, SEALED.merge("rotation" => true), lambda do |ring|
    coder = encryptor(ring, "aes-256-gcm")
    [->(p, ttl) { coder.encrypt_and_sign(p, expires_in: ttl) }, ->(t, _) { check(coder.decrypt_and_verify(t)) }]
  end),
  "rails-encryptor-cbc" => Row.new("activesupport", false, SEALED.merge("rotation" => true), encrypted("aes-256-cbc")),
  "rails-verifier" => Row.new("activesupport", false, SIGNED.merge("rotation" => true), lambda do |ring|
    raise Refused, "want a key" if ring.empty?
    coder = rotated(ActiveSupport::MessageVerifier.new(ring[0], digest: "SHA256", serializer: NULL), ring, digest: "SHA256")
    # Rails verifies no empty text.
    [->(p) { coder.generate("s" + p) }, ->(t) { coder.verify(t).delete_prefix("s") }]
  end),
  "rack-session" => Row.new("rack", false, SIGNED.merge("canonical" => true), lambda do |ring|
    require "rack"
    key = one(ring)
    cookie = Rack::Session::Cookie.new(->(_) {}, secret: key, coder: Rack::Session::Cookie::Base64::JSON.new)
    [
      ->(p) { (data = cookie.coder.encode("s" => p.dup.force_encoding("iso-8859-1").encode("utf-8"))) + "--" + cookie.send(:generate_hmac, data, key) },
      lambda do |t|
        session = cookie.send(:unpacked_cookie_data, Rack::Request.new("HTTP_COOKIE" => "", Rack::RACK_REQUEST_COOKIE_STRING => "", Rack::RACK_REQUEST_COOKIE_HASH => { "rack.session" => t }))
        check(session["s"]).encode("iso-8859-1").b
      end,
    ]
  end),
}.freeze

NAME = ARGV[0].to_s
ROW = TABLE[NAME] || abort("no row #{NAME.inspect}; there are #{TABLE.keys.join(", ")}")
CONTENT = ROW.scheme ? "state_b64" : "payload_b64"
OPENED = {}

def decode(text) = Base64.urlsafe_decode64(text)
def encode(raw) = Base64.urlsafe_encode64(raw, padding: false)

def judge(opened, token)
  { "ok" => true, CONTENT => encode(opened[:unseal].call(token, *opened[:ttl])) }
rescue StandardError => e
  { "ok" => false, "rejected" => "unauthentic", "reason" => e.class.name }
end

def hello
  { protocol: 1, name: NAME, version: Gem.loaded_specs[ROW.gem]&.version.to_s, kind: ROW.scheme ? "scheme" : "codec",
    abilities: %w[batch parallel] + (ROW.scheme ? ["clock"] : []), guarantees: COMMON.merge(ROW.claims, ROW.scheme ? UNBOUND : {}) }
end

def open(request)
  raise Refused, "want no options" unless (request["options"] || {}).empty?
  seal, unseal = ROW.new.call((request["keys_b64"] || []).map { |key| decode(key) })
  OPENED[handle = OPENED.length + 1] = { seal: seal, unseal: unseal, ttl: ROW.scheme ? [request["ttl"] || 600] : [] }
  { handle: handle }
end

def answer(request)
  Time.sealab = request["now"] && Time.at(Rational(request["now"].to_s))
  opened = OPENED[request["handle"]]
  case request["op"]
  when "hello" then hello
  when "open" then open(request)
  when "close" then OPENED[request["handle"]] = nil
    {}
  when "seal", "mint" then { token: opened[:seal].call(decode(request[CONTENT]), *opened[:ttl]) }
  when "unseal", "verify"
    return judge(opened, request["token"]) unless request["tokens"]
    { verdicts: request["tokens"].map { |token| judge(opened, token) } }
  else { ok: false, unsupported: true }
  end
rescue Refused => e
  { ok: false, refused: e.message }
rescue StandardError => e
  { ok: false, fault: "#{e.class}: #{e.message}" }
end

gem(ROW.gem) unless Gem.loaded_specs[ROW.gem]
$stdout.sync = true
$stdin.each_line do |line|
  # Ruby refuses an escaped lone surrogate. U+FFFD is as foreign to tokens as that.
  line = line.gsub(/\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)/) { |m| m.size == 6 && m[2].downcase == "d" ? "\\ufffd" : m }
  $stdout.puts JSON.generate({ ok: true }.merge(answer(JSON.parse(line, max_nesting: false)).transform_keys(&:to_sym)))
rescue JSON::ParserError => e
  $stdout.puts JSON.generate(ok: false, fault: "the request cannot be read: #{e.message}")
end
