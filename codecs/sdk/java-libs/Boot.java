import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts a token library in Java as a sealab worker, protocol 1.
 *
 * Usage: java -cp classes Boot ROW [FOLDER]. ROW is a name in Rows. FOLDER holds the jars
 * of another version of the library, which are loaded instead of those in lib.
 */
public final class Boot {
  private static void jars(String folder, List<URL> urls) throws Exception {
    File[] files = new File(folder).listFiles((dir, name) -> name.endsWith(".jar"));
    if (files == null) throw new IllegalArgumentException("there is no folder " + folder);
    for (File file : files) urls.add(file.toURI().toURL());
  }

  public static void main(String[] args) throws Exception {
    List<URL> urls = new ArrayList<>();
    if (args.length > 1) jars(args[1], urls);
    urls.add(new File("classes/").toURI().toURL());
    jars("lib", urls);
    URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    loader.loadClass("Worker").getMethod("run", String.class).invoke(null, args[0]);
  }
}
