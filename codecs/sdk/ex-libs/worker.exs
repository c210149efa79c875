# Plug.Crypto as a sealab worker, protocol 1. Usage: elixir worker.exs ROW. The sources of
# plug_crypto are compiled from installed/plug_crypto, with the time of a request in
# place of the machine's.

defmodule Text do
  @moduledoc "JSON of the worker protocol: Erlang/OTP 25 has no parser of its own."

  def decode(text) do
    {value, ""} = value(skip(text))
    value
  end

  defp skip(<<c, rest::binary>>) when c in ~c" \t\r\n", do: skip(rest)
  defp skip(text), do: text

  defp value("{" <> rest), do: object(skip(rest), %{})
  defp value("[" <> rest), do: array(skip(rest), [])
  defp value("\"" <> rest), do: string(rest, [])
  defp value("true" <> rest), do: {true, skip(rest)}
  defp value("false" <> rest), do: {false, skip(rest)}
  defp value("null" <> rest), do: {nil, skip(rest)}

  defp value(text) do
    [number] = Regex.run(~r/^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/, text)
    {number, skip(binary_part(text, byte_size(number), byte_size(text) - byte_size(number)))}
  end

  defp object("}" <> rest, all), do: {all, skip(rest)}

  defp object("\"" <> rest, all) do
    {name, ":" <> rest} = string(rest, [])
    {value, rest} = value(skip(rest))
    all = Map.put(all, name, value)

    case rest do
      "," <> rest -> object(skip(rest), all)
      "}" <> rest -> {all, skip(rest)}
    end
  end

  defp array("]" <> rest, all), do: {Enum.reverse(all), skip(rest)}

  defp array(text, all) do
    case value(text) do
      {value, "," <> rest} -> array(skip(rest), [value | all])
      {value, "]" <> rest} -> {Enum.reverse([value | all]), skip(rest)}
    end
  end

  @letters %{?n => ?\n, ?r => ?\r, ?t => ?\t, ?b => ?\b, ?f => ?\f}

  defp string("\"" <> rest, all), do: {all |> Enum.reverse() |> IO.iodata_to_binary(), skip(rest)}

  defp string(<<"\\u", hex::binary-4, rest::binary>>, all) do
    case {String.to_integer(hex, 16), rest} do
      {high, <<"\\u", low::binary-4, rest::binary>> = whole} when high in 0xD800..0xDBFF ->
        case String.to_integer(low, 16) do
          low when low in 0xDC00..0xDFFF -> string(rest, [<<0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00::utf8>> | all])
          _ -> string(whole, ["\uFFFD" | all])
        end

      # A lone surrogate and U+FFFD are as foreign to tokens.
      {half, rest} when half in 0xD800..0xDFFF -> string(rest, ["\uFFFD" | all])
      {rune, rest} -> string(rest, [<<rune::utf8>> | all])
    end
  end

  defp string(<<?\\, c, rest::binary>>, all), do: string(rest, [Map.get(@letters, c, c) | all])
  defp string(<<c, rest::binary>>, all), do: string(rest, [c | all])

  def encode(all) when is_map(all), do: "{" <> Enum.map_join(all, ",", fn {k, v} -> encode(to_string(k)) <> ":" <> encode(v) end) <> "}"
  def encode(all) when is_list(all), do: "[" <> Enum.map_join(all, ",", &encode/1) <> "]"
  def encode(value) when is_boolean(value) or is_integer(value), do: to_string(value)

  def encode(text) do
    "\"" <> (for <<c <- text>>, into: "", do: if(c in [?", ?\\] or c < 32, do: "\\u" <> String.pad_leading(Integer.to_string(c, 16), 4, "0"), else: <<c>>)) <> "\""
  end
end

defmodule Worker do
  @salt "request_state"

  @common %{
    "integrity" => true, "total" => true, "byte-exact" => true, "inert" => true, "private-keys" => true,
    "canonical" => false, "rotation" => false, "key-separation" => false, "key-committing" => false,
    "sender-authenticated" => false, "strong-keys" => false, "uniform-refusal" => true, "single-use" => false,
    "expiry" => false, "binds-method" => false, "binds-target" => false, "binds-arguments" => false,
    "binds-principal" => false, "binds-audience" => false, "unambiguous" => false, "unlinkable" => true
  }
  @rows %{
    "encrypt" => {:encrypt, :decrypt, %{"confidentiality" => true, "nonce-misuse-resistant" => false, "fresh-nonces" => true}},
    "sign" => {:sign, :verify, %{"confidentiality" => false, "nonce-misuse-resistant" => true, "fresh-nonces" => false}}
  }

  def rows, do: Map.keys(@rows)

  def run(name, opened) do
    with line when is_binary(line) <- IO.binread(:stdio, :line) do
      {answer, opened} =
        try do
          answer(Text.decode(line), name, opened)
        rescue
          e -> {%{ok: false, fault: Exception.message(e)}, opened}
        end

      IO.binwrite(:stdio, Text.encode(Map.put_new(answer, :ok, true)) <> "\n")
      run(name, opened)
    end
  end

  defp answer(%{"op" => "hello"}, name, opened) do
    {_, _, claims} = @rows[name]

    {%{protocol: 1, name: "plug-crypto-" <> name, version: version(), kind: "scheme", abilities: ["clock", "batch", "parallel"],
       guarantees: Map.merge(@common, claims)}, opened}
  end

  defp answer(%{"op" => "open", "keys_b64" => [key]} = request, _, opened) do
    handle = map_size(opened) + 1
    {%{handle: handle}, Map.put(opened, to_string(handle), {raw(key), number(request["ttl"] || "600")})}
  end

  defp answer(%{"op" => "open"}, _, opened), do: {%{ok: false, refused: "want one key"}, opened}
  defp answer(%{"op" => "close"} = request, _, opened), do: {%{}, Map.put(opened, request["handle"], nil)}

  defp answer(%{"op" => "mint"} = request, name, opened) do
    {seal, _, _} = @rows[name]
    {key, _} = opened[request["handle"]]
    clock(request)
    {%{token: apply(Plug.Crypto, seal, [key, @salt, raw(request["state_b64"])])}, opened}
  end

  defp answer(%{"op" => "verify"} = request, name, opened) do
    {key, ttl} = opened[request["handle"]]
    clock(request)

    case request do
      %{"tokens" => tokens} -> {%{verdicts: Enum.map(tokens, &judge(name, key, ttl, &1))}, opened}
      %{"token" => token} -> {judge(name, key, ttl, token), opened}
    end
  end

  defp answer(_, _, opened), do: {%{ok: false, unsupported: true}, opened}

  defp judge(name, key, ttl, token) do
    {_, open, _} = @rows[name]

    case apply(Plug.Crypto, open, [key, @salt, token, [max_age: ttl]]) do
      {:ok, state} when is_binary(state) -> %{ok: true, state_b64: Base.url_encode64(state, padding: false)}
      {:ok, _} -> %{ok: false, unsupported: true}
      {:error, reason} -> %{ok: false, rejected: "unauthentic", reason: to_string(reason)}
    end
  rescue
    e -> %{ok: false, rejected: "unauthentic", reason: inspect(e.__struct__)}
  end

  defp raw(text), do: Base.url_decode64!(text, padding: false)
  defp clock(request), do: Process.put(:sealab_now, floor(number(request["now"]) * 1000 + 0.0005))

  defp number(text) do
    {n, ""} = Float.parse(text)
    n
  end

  defp version do
    [_, version] = Regex.run(~r/@version "([^"]*)"/, File.read!("installed/plug_crypto/mix.exs"))
    version
  end
end

for file <- ["key_generator", "message_verifier", "message_encryptor", "../crypto"] do
  path = "installed/plug_crypto/lib/plug/crypto/#{file}.ex"
  path |> File.read!() |> String.replace("System.os_time(:millisecond)", "Process.get(:sealab_now)") |> Code.compile_string(path)
end

:ets.new(Plug.Crypto.Keys, [:named_table, :public, read_concurrency: true])
:io.setopts(:standard_io, encoding: :latin1, binary: true)
[name] = System.argv()
name in Worker.rows() || raise "no row #{inspect(name)}; there are #{Enum.join(Worker.rows(), ", ")}"
Worker.run(name, %{})
