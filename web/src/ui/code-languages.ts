import { StreamLanguage, type StreamParser } from '@codemirror/language'
import type { Extension } from '@codemirror/state'

/** The grammar for a language name or file extension; null when unknown. */
export async function loadLanguage(name: string): Promise<Extension | null> {
  const key = name.toLowerCase()
  const load = Object.hasOwn(loaders, key) ? loaders[key] : undefined
  return load ? load() : null
}

type Loader = () => Promise<Extension>

const javascript = async (isTyped: boolean, hasTags: boolean) =>
  (await import('@codemirror/lang-javascript')).javascript({ typescript: isTyped, jsx: hasTags })
const json: Loader = async () => (await import('@codemirror/lang-json')).json()
const markdown: Loader = async () => (await import('@codemirror/lang-markdown')).markdown()
const python: Loader = async () => (await import('@codemirror/lang-python')).python()
const yaml: Loader = async () => (await import('@codemirror/lang-yaml')).yaml()

function legacy<State>(load: () => Promise<StreamParser<State>>): Loader {
  return async () => StreamLanguage.define(await load())
}
const shell = legacy(async () => (await import('@codemirror/legacy-modes/mode/shell')).shell)
const toml = legacy(async () => (await import('@codemirror/legacy-modes/mode/toml')).toml)
const css = legacy(async () => (await import('@codemirror/legacy-modes/mode/css')).css)
const xml = legacy(async () => (await import('@codemirror/legacy-modes/mode/xml')).html)
const docker = legacy(async () => (await import('@codemirror/legacy-modes/mode/dockerfile')).dockerFile)
const properties = legacy(async () => (await import('@codemirror/legacy-modes/mode/properties')).properties)
const sql = legacy(async () => (await import('@codemirror/legacy-modes/mode/sql')).standardSQL)
const go = legacy(async () => (await import('@codemirror/legacy-modes/mode/go')).go)
const rust = legacy(async () => (await import('@codemirror/legacy-modes/mode/rust')).rust)
const ruby = legacy(async () => (await import('@codemirror/legacy-modes/mode/ruby')).ruby)

const loaders: Record<string, Loader> = {
  typescript: () => javascript(true, false),
  ts: () => javascript(true, false),
  mts: () => javascript(true, false),
  tsx: () => javascript(true, true),
  javascript: () => javascript(false, true),
  js: () => javascript(false, true),
  mjs: () => javascript(false, true),
  cjs: () => javascript(false, true),
  jsx: () => javascript(false, true),
  json,
  jsonl: json,
  ndjson: json,
  markdown,
  md: markdown,
  python,
  py: python,
  yaml,
  yml: yaml,
  bash: shell,
  shell,
  sh: shell,
  zsh: shell,
  toml,
  css,
  scss: css,
  xml,
  html: xml,
  svg: xml,
  dockerfile: docker,
  properties,
  ini: properties,
  env: properties,
  conf: properties,
  sql,
  go,
  rust,
  rs: rust,
  ruby,
  rb: ruby,
}
