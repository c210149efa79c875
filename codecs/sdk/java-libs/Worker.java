import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** The worker protocol, version 1, for the rows in Rows. */
public final class Worker {
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  private final String name;
  private final Rows.Row row;
  private final Map<Integer, Rows.Opened> opened = new HashMap<>();

  private Worker(String name) {
    this.name = name;
    this.row = Rows.row(name);
  }

  public static void run(String name) throws Exception {
    PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
    System.setOut(System.err); // what a library prints is no answer
    Worker worker = new Worker(name);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      out.print(GSON.toJson(worker.answer(line)) + "\n");
      out.flush();
    }
  }

  private JsonObject answer(String line) {
    JsonObject no = new JsonObject();
    no.addProperty("ok", false);
    try {
      JsonObject request = JsonParser.parseString(line).getAsJsonObject();
      JsonObject answer = ask(request);
      if (answer == null) {
        no.addProperty("unsupported", true);
        return no;
      }
      if (!answer.has("ok")) answer.addProperty("ok", true);
      return answer;
    } catch (Rows.Refused refused) {
      no.addProperty("refused", refused.getMessage());
    } catch (Throwable wrong) {
      no.addProperty("fault", String.valueOf(wrong));
    }
    return no;
  }

  private JsonObject ask(JsonObject request) throws Exception {
    JsonObject answer = new JsonObject();
    switch (request.get("op").getAsString()) {
      case "hello":
        answer.addProperty("protocol", 1);
        answer.addProperty("name", name);
        answer.addProperty("version", version());
        answer.addProperty("kind", "codec");
        answer.add("abilities", GSON.toJsonTree(new String[] {"batch", "parallel"}));
        answer.add("guarantees", GSON.toJsonTree(Rows.guarantees(row)));
        return answer;
      case "open":
        opened.put(opened.size() + 1, open(request));
        answer.addProperty("handle", opened.size());
        return answer;
      case "close":
        opened.replace(handle(request), null);
        return answer;
      case "seal":
        answer.addProperty("token", opened.get(handle(request)).sealer().seal(decode(request.get("payload_b64"))));
        return answer;
      case "unseal":
        Rows.Opened codec = opened.get(handle(request));
        if (!request.has("tokens")) return verdict(codec, request.get("token").getAsString());
        JsonArray verdicts = new JsonArray();
        for (JsonElement token : request.getAsJsonArray("tokens")) verdicts.add(verdict(codec, token.getAsString()));
        answer.add("verdicts", verdicts);
        return answer;
      default:
        return null;
    }
  }

  private Rows.Opened open(JsonObject request) throws Rows.Refused {
    JsonArray keys = request.getAsJsonArray("keys_b64");
    if (keys.size() != 1) throw new Rows.Refused("got " + keys.size() + " keys, want 1");
    try {
      Rows.Opened codec = row.opener().open(decode(keys.get(0)));
      codec.sealer().seal("{}".getBytes(StandardCharsets.UTF_8)); // some libraries refuse a key at its first use
      return codec;
    } catch (Exception wrong) {
      throw new Rows.Refused(String.valueOf(wrong.getMessage()));
    }
  }

  /** Every exception of a library is a refusal. */
  private JsonObject verdict(Rows.Opened codec, String token) {
    JsonObject answer = new JsonObject();
    try {
      byte[] payload = codec.unsealer().unseal(token);
      answer.addProperty("payload_b64", Base64.getUrlEncoder().withoutPadding().encodeToString(payload));
      answer.addProperty("ok", true);
    } catch (Exception refusal) {
      answer = new JsonObject();
      answer.addProperty("ok", false);
      answer.addProperty("rejected", "unauthentic");
      answer.addProperty("reason", refusal.getClass().getSimpleName());
    }
    return answer;
  }

  private static int handle(JsonObject request) { return request.get("handle").getAsInt(); }

  private static byte[] decode(JsonElement text) { return Base64.getUrlDecoder().decode(text.getAsString()); }

  /** The version in the name of the jar. */
  private String version() {
    String jar = row.library().getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll("^.*?-([0-9][^/]*)\\.jar$", "$1");
  }
}
