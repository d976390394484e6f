import type { z } from 'zod'

/**
 * A type of event. Internal names have a dot (`execution.finished`); on the wire the dot is an underscore. Events with
 * `stored` go through the outbox and can be replayed; others are live only.
 */
export type EventType<Fields extends z.ZodType = z.ZodType> = {
  name: string
  fields: Fields
  stored: boolean
  /** `admin`: delivered to admins only, regardless of the agents it names. */
  audience?: 'admin'
}

export function eventType<Fields extends z.ZodType>(value: EventType<Fields>): EventType<Fields> {
  return value
}

export type FieldsOf<E> = E extends EventType<infer F> ? z.input<F> : never

export function wireName(name: string): string {
  return name.replaceAll('.', '_')
}
