<?php

// Token libraries in PHP as sealab workers, protocol 1: the first argument names a row
// of the table.
//
// A row is a function from the ring, the time to live and the request's time to a pair:
// seal takes a payload and returns a token, unseal takes a token and returns the payload
// or throws. The time is null unless the row is a scheme.

declare(strict_types=1);

const ILLUMINATE = '/usr/share/php/Illuminate/Encryption/autoload.php';
const PHP_SDK = __DIR__.'/installed/php-sdk/src/';

final class Refused extends Exception {}
final class Unsupported extends Exception {}

/** A rejection with the stage and the reason that the library gives. */
final class Rejected extends Exception
{
    public function __construct(public readonly string $stage, string $reason)
    {
        parent::__construct($reason);
    }
}

const COMMON = [
    'integrity' => true, 'total' => true, 'byte-exact' => true, 'inert' => true, 'private-keys' => true,
    'canonical' => false, 'rotation' => false, 'key-separation' => false, 'key-committing' => false,
    'sender-authenticated' => false, 'strong-keys' => true, 'uniform-refusal' => false, 'single-use' => false,
    'confidentiality' => true, 'nonce-misuse-resistant' => false, 'fresh-nonces' => true,
];

function one(array $ring, int $size = 0): string
{
    if (count($ring) !== 1) {
        throw new Refused('got '.count($ring).' keys, want 1: the library has no ring');
    }
    if ($size > 0 && strlen($ring[0]) !== $size) {
        throw new Refused('got a key of '.strlen($ring[0])." bytes, want $size");
    }

    return $ring[0];
}

function laravel(string $cipher): Closure
{
    return function (array $ring) use ($cipher): array {
        require_once ILLUMINATE;
        $encrypter = new Illuminate\Encryption\Encrypter(one($ring, 32), $cipher);

        return [fn (string $p) => $encrypter->encryptString($p), fn (string $t) => $encrypter->decryptString($t)];
    };
}

function mcp(array $ring, float $ttl): array
{
    // The classes of the exceptions have no other requirements.
    foreach (['Exception/ExceptionInterface', 'Exception/InvalidArgumentException', 'Exception/RequestStateException', 'Server/Stateless/RequestStateCodec'] as $class) {
        require_once PHP_SDK.$class.'.php';
    }
    if ($ttl !== floor($ttl)) {
        throw new Refused("the time to live is $ttl and must be whole seconds");
    }
    $codec = new Mcp\Server\Stateless\RequestStateCodec(one($ring), (int) $ttl);
    $stages = ['malformed' => 'malformed', 'mac' => 'unauthentic', 'expired' => 'expired'];

    return [
        function (string $state, float $now) use ($codec): string {
            try {
                return $codec->mint(['s' => $state], (int) floor($now));
            } catch (JsonException) {
                throw new Unsupported();
            }
        },
        function (string $token, float $now) use ($codec, $stages): string {
            try {
                $state = $codec->verify($token, (int) floor($now))['s'] ?? null;
            } catch (Mcp\Exception\RequestStateException $e) {
                throw isset($stages[$e->getMessage()]) ? new Rejected($stages[$e->getMessage()], $e->getMessage()) : $e;
            }

            return is_string($state) ? $state : throw new Unsupported();
        },
    ];
}

$debian = fn (string $package): string => trim(explode('+', (string) shell_exec('dpkg-query -W -f=\'${Version}\' '.$package.' 2>/dev/null'))[0]) ?: 'unknown';
$table = [
    // Members of the JSON beside iv, value, mac and tag are not authenticated.
    'laravel-cbc' => ['new' => laravel('aes-256-cbc'), 'version' => fn () => $debian('php-illuminate-encryption'), 'claims' => ['integrity' => false, 'key-committing' => true]],
    'laravel-gcm' => ['new' => laravel('aes-256-gcm'), 'version' => fn () => $debian('php-illuminate-encryption'), 'claims' => ['integrity' => false]],
    'mcp-php' => ['new' => mcp(...), 'version' => fn () => 'c882401', 'scheme' => true, 'claims' => [
        'confidentiality' => false, 'nonce-misuse-resistant' => true, 'fresh-nonces' => false, 'uniform-refusal' => true,
        'steady-timing' => true, 'unlinkable' => true, 'expiry' => false, 'binds-method' => false, 'binds-target' => false,
        'binds-arguments' => false, 'binds-principal' => false, 'binds-audience' => false, 'unambiguous' => false,
    ]],
];
$name = $argv[1] ?? '';
$row = $table[$name] ?? null;
if ($row === null) {
    fwrite(STDERR, "no row \"$name\"; there are ".implode(', ', array_keys($table))."\n");
    exit(2);
}
$scheme = $row['scheme'] ?? false;

function decode(string $text): string
{
    return base64_decode(strtr($text, '-_', '+/'), true);
}

function encode(string $raw): string
{
    return rtrim(strtr(base64_encode($raw), '+/', '-_'), '=');
}

/** The three bytes of a surrogate. */
function wtf8(int $unit): string
{
    return chr(0xE0 | $unit >> 12).chr(0x80 | $unit >> 6 & 63).chr(0x80 | $unit & 63);
}

$opened = [];
$last = 0;

$ask = function (array $m) use (&$opened, &$last, $row, $name, $scheme): array {
    $handle = function () use ($m, &$opened): array {
        return $opened[$m['handle'] ?? 0] ?? throw new Exception('there is no such handle');
    };
    $content = $scheme ? 'state_b64' : 'payload_b64';
    $now = $scheme && isset($m['now']) ? [(float) $m['now']] : [];
    $judge = function (string $token) use ($handle, $content, $now): array {
        $token = !str_contains($token, "\xF3\xB0") ? $token : preg_replace_callback('/[\x{F0000}-\x{F07FF}]/u', fn (array $m) => wtf8(mb_ord($m[0]) - 0xF0000 + 0xD800), $token);
        try {
            return ['ok' => true, $content => encode($handle()[1]($token, ...$now))];
        } catch (Rejected|Unsupported $e) {
            throw $e;
        } catch (Throwable $e) {
            throw new Rejected('unauthentic', (new ReflectionClass($e))->getShortName());
        }
    };
    switch ($m['op'] ?? '') {
        case 'hello':
            if (($m['protocol'] ?? 0) !== 1) {
                throw new Exception('want protocol 1');
            }

            return ['protocol' => 1, 'name' => $name, 'version' => $row['version'](), 'kind' => $scheme ? 'scheme' : 'codec',
                'abilities' => $scheme ? ['batch', 'parallel', 'clock'] : ['batch', 'parallel'], 'guarantees' => [...COMMON, ...$row['claims']]];
        case 'open':
            try {
                if (($m['options'] ?? []) !== []) {
                    throw new Refused('want no options');
                }
                $opened[++$last] = $row['new'](array_map(decode(...), $m['keys_b64'] ?? []), (float) ($m['ttl'] ?? 600));
            } catch (Throwable $e) {
                throw new Refused($e->getMessage());
            }

            return ['handle' => $last];
        case 'close':
            unset($opened[$m['handle']]);

            return [];
        case 'seal': case 'mint':
            return ['token' => $handle()[0](decode($m[$content]), ...$now)];
        case 'unseal': case 'verify':
            if (isset($m['tokens'])) {
                return ['verdicts' => array_map(fn (string $t) => answer(fn () => $judge($t)), $m['tokens'])];
            }

            return $judge($m['token']);
    }
    throw new Unsupported();
};

function answer(Closure $operation): array
{
    try {
        return ['ok' => true, ...$operation()];
    } catch (Rejected $e) {
        return ['ok' => false, 'rejected' => $e->stage, 'reason' => $e->getMessage()];
    } catch (Refused $e) {
        return ['ok' => false, 'refused' => $e->getMessage()];
    } catch (Unsupported) {
        return ['ok' => false, 'unsupported' => true];
    } catch (Throwable $e) {
        return ['ok' => false, 'fault' => get_class($e).': '.$e->getMessage()];
    }
}

set_error_handler(fn (int $level, string $text) => throw new ErrorException($text));
while (($line = fgets(STDIN)) !== false) {
    // PHP refuses an escaped lone surrogate: it becomes a character of plane 15, and in
    // tokens three bytes.
    $line = !str_contains($line, '\\u') ? $line : preg_replace_callback('/\\\\(?:u[dD][89abAB]..\\\\u[dD][c-fC-F]..|u([dD][89a-fA-F]..)|.)/', fn (array $m) => isset($m[1]) ? mb_chr(0xF0000 + hexdec($m[1]) - 0xD800) : $m[0], $line);
    $message = json_decode($line, true, 100_000);
    echo json_encode(is_array($message) ? answer(fn () => $ask($message)) : ['ok' => false, 'fault' => 'the request cannot be read'], JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
