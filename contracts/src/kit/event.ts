import type { z } from 'zod'

/**
 * An event that happened. Inside, names have a dot (`execution.finished`); on the wire the dot is an
 * underscore. `stored` events go through the outbox and can be replayed; signals are live only.
 */
export type EventType<Fields extends z.ZodType = z.ZodType> = {
  name: string
  fields: Fields
  stored: boolean
  /** `admin`: delivered to admins only, whatever agents it names. */
  audience?: 'admin'
}

export function eventType<Fields extends z.ZodType>(value: EventType<Fields>): EventType<Fields> {
  return value
}

export type FieldsOf<E> = E extends EventType<infer F> ? z.input<F> : never

export function wireName(name: string): string {
  return name.replaceAll('.', '_')
}
