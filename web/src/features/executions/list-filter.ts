import type { RunFilter } from './queries.ts'

const names = [
  'agent',
  'status',
  'trigger',
  'search',
  'model',
  'person',
  'tag',
  'error',
  'cost',
  'tokens',
  'duration',
  'from',
  'to',
] as const

/** The filter of a list as one search parameter of a run's page, so that the page finds the runs beside it. */
export function listParam(filter: RunFilter): string {
  const texts = names.flatMap((name) => (filter[name] === undefined ? [] : [[name, filter[name]]]))
  return new URLSearchParams([...texts, ['hours', String(filter.hours)]]).toString()
}

/** Reads the parameter; without one, the runs of the agent over all time. */
export function listFilter(param: string | undefined, agent: string): RunFilter {
  if (param === undefined) return { agent, hours: 0 }
  const fields = new URLSearchParams(param)
  const hours = Number(fields.get('hours'))
  const texts = names.flatMap((name) => (fields.has(name) ? [[name, fields.get(name)]] : []))
  return { ...Object.fromEntries(texts), hours: Number.isInteger(hours) && hours >= 0 ? hours : 0 }
}
