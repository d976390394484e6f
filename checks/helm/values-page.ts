import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

type Field = {
  description?: string
  properties?: Record<string, Field>
  type?: string | string[]
}

/** The page `docs/reference/chart.md`, from the schema and the defaults of the chart. */
export function chartPage(root: string): string {
  const chart = join(root, 'deploy/helm/roost')
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Field
  const defaults: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const sections = Object.entries(schema.properties ?? {}).filter(([name]) => name !== 'global')
  return [
    '# Values of the Helm chart',
    '',
    'For operators; [Kubernetes](../operate/kubernetes.md) describes how to use them. Helm refuses other names and values of',
    'another form, and names the field.',
    '',
    '| Value | Default | Meaning |',
    '|---|---|---|',
    ...sections.flatMap(([name, field]) => rowsOf(name, field, valueAt(defaults, name))),
    '',
  ].join('\n')
}

/** A field with fields of its own has a row for each of them. Names of variables are in the reference of the configuration. */
function rowsOf(path: string, field: Field, value: unknown): string[] {
  const fields = Object.entries(field.properties ?? {}).filter(([name]) => !/^[A-Z][A-Z0-9_]+$/.test(name))
  if (fields.length > 0)
    return fields.flatMap(([name, each]) => rowsOf(`${path}.${name}`, each, valueAt(value, name)))
  return [`| \`${path}\` | ${textOf(value)} | ${(field.description ?? '').replaceAll('|', '\\|')} |`]
}

function textOf(value: unknown): string {
  if (value === '' || value === undefined) return 'empty'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function valueAt(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}
