// Bundles the tests, because Node.js 18 reads no TypeScript, and runs them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gpulse-page-"));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => join(here, name)),
  bundle: true,
  platform: "node",
  format: "esm",
  outdir: folder,
  outExtension: { ".js": ".mjs" },
});
const files = tests.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
