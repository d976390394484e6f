import { z } from 'zod'

/** Values for parameters with a pattern or a rule outside of the schema. */
const byName: Readonly<Record<string, unknown>> = {
  cron_expression: '0 9 * * MON',
  timezone: 'Europe/Berlin',
  since: '2030-01-31T09:00:00.000Z',
  fire_at: '2030-01-31T09:00:00.000Z',
  period_start: '2030-01-31T09:00:00.000Z',
  period_end: '2030-02-01T09:00:00.000Z',
  expires_at: '2030-02-01T09:00:00.000Z',
  to_number: '+15550123456',
  to_email: 'ada@example.com',
  pay_to: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  network: 'eip155:8453',
  event_type: 'report.ready',
  report_type: 'sales.weekly',
  github_repo: 'acme/helper',
  resources: { cpu: '2', memory: '4g' },
  runtime_model: 'sonnet',
  model: 'sonnet',
  no_progress_threshold: 4,
  name: 'sample-name',
  new_name: 'sample-new',
  tag: 'sample',
  tags: ['sample'],
  hosts: { TOKEN: ['api.example.com'] },
  files: { '.env': 'A=1' },
  payload: { a: 1 },
  blocks: [{ id: 'b1', kind: 'json', payload: { a: 1 } }],
}

type Json = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Json[]
  items?: Json
  properties?: Record<string, Json>
  required?: string[]
  minimum?: number
  exclusiveMinimum?: number
  minLength?: number
}

/** Returns a valid value other than the default. */
export function sampleOf(name: string, schema: z.ZodType): unknown {
  const { default: fallback, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const sample =
    Object.hasOwn(byName, name) && schema.safeParse(byName[name]).success
      ? byName[name]
      : sampleFor(json as Json)
  return sample === fallback ? other(json as Json, sample) : sample
}

function sampleFor(json: Json): unknown {
  const [first] = json.anyOf ?? []
  if (first) return sampleFor(first)
  if (json.const !== undefined) return json.const
  if (json.enum) return json.enum[0]
  switch ([json.type].flat()[0]) {
    case 'string':
      return 'sample-text'.padEnd(json.minLength ?? 0, 'x')
    case 'integer':
      return (json.minimum ?? 0) + 3
    case 'number':
      return (json.minimum ?? json.exclusiveMinimum ?? 0) + 0.5
    case 'boolean':
      return true
    case 'array':
      return [sampleFor(json.items ?? {})]
    case 'object': {
      const names = json.required ?? []
      return Object.fromEntries(names.map((name) => [name, sampleFor(json.properties?.[name] ?? {})]))
    }
    default:
      return 'sample'
  }
}

function other(json: Json, sample: unknown): unknown {
  if (json.enum) return json.enum.find((value) => value !== sample)
  return typeof sample === 'boolean' ? !sample : typeof sample === 'number' ? sample + 1 : sample
}
