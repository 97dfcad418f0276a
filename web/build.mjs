// node build.mjs PAGE PACKED: checks the types, bundles the page into PAGE, and leaves every file with gzip in PACKED.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [page, packed] = process.argv.slice(2);
const at = (...parts) => join(here, ...parts);

execFileSync(process.execPath, [at("node_modules/typescript/bin/tsc"), "--project", here], { stdio: "inherit" });

rmSync(page, { recursive: true, force: true });
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome100", "firefox100", "safari15.4"],
  outdir: join(page, "assets"),
  entryNames: "[name]-[hash]",
  metafile: true,
  legalComments: "none",
};

// The page has to know the worker's name, which changes with what is in it.
const nameOf = (result, ending) =>
  Object.keys(result.metafile.outputs)
    .map((path) => relative(page, join(here, path)))
    .find((path) => path.endsWith(ending));
const worker = nameOf(await build({ ...common, entryPoints: ["src/worker.ts"] }), ".js");
const made = await build({
  ...common,
  entryPoints: ["src/main.ts"],
  define: { WORKER_ADDRESS: JSON.stringify(worker) },
});

const html = readFileSync(at("src/index.html"), "utf8")
  .replace("main.js", nameOf(made, ".js"))
  .replace("main.css", nameOf(made, ".css"))
  .replace(/^\s+/gm, "");
writeFileSync(join(page, "index.html"), html);

copyFileSync(at("src/icon.svg"), join(page, "icon.svg"));

let total = 0;
const pack = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      pack(path);
      continue;
    }
    const target = join(packed, `${relative(page, path)}.gz`);
    mkdirSync(dirname(target), { recursive: true });
    const bytes = gzipSync(readFileSync(path), { level: 9 });
    total += bytes.length;
    writeFileSync(target, bytes);
  }
};
pack(page);
if (total > 150_000) throw new Error(`the page takes ${total} bytes over the wire: more than 150 kB`);
