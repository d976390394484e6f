import { z } from 'zod'

type InQuery<Shape extends z.ZodRawShape> = z.ZodObject<{
  [Name in keyof Shape]: z.ZodOptional<
    z.ZodType<
      z.input<Shape[Name]>,
      string | (NonNullable<z.input<Shape[Name]>> extends unknown[] ? string[] : never)
    >
  >
}>

/**
 * Returns the query schema of an endpoint that accepts the fields of its JSON body in the query too. It converts text to
 * the type of the field; the body's rules check the value. Lists repeat the name. The body wins over the query.
 */
export function inQuery<Shape extends z.ZodRawShape>(body: z.ZodObject<Shape>): InQuery<Shape> {
  const fields = Object.entries(body.shape).map(([name, field]) => {
    const schema = field as z.ZodType
    return [
      name,
      textOf(schema)
        .optional()
        .describe(schema.description ?? 'The same as in the body.'),
    ]
  })
  // The types of the values are those of the body's fields.
  return z.object(Object.fromEntries(fields)) as unknown as InQuery<Shape>
}

/** The documentation shows the type at the end of the pipe. */
function textOf(schema: z.ZodType): z.ZodType {
  const bare = unwrap(schema)
  if (bare instanceof z.ZodEnum) return bare
  if (bare instanceof z.ZodBoolean) {
    return z
      .enum(['true', 'false', '1', '0'])
      .transform((value) => value === 'true' || value === '1')
      .pipe(z.boolean())
  }
  if (bare instanceof z.ZodNumber) {
    return z
      .string()
      .regex(/^-?\d{1,15}$/, 'must be an integer')
      .transform(Number)
      .pipe(z.number().int())
  }
  if (bare instanceof z.ZodArray) {
    return z
      .union([z.string(), z.array(z.string())])
      .transform((value) => [value].flat())
      .pipe(z.array(z.string()))
  }
  return z.string()
}

/** Returns the names of the top-level fields that a schema reads; null for any name. */
export function fieldNames(schema: z.ZodType | undefined): ReadonlySet<string> | null {
  if (!schema) return new Set()
  const bare = unwrap(schema)
  return bare instanceof z.ZodObject ? new Set(Object.keys(bare.shape)) : null
}

/** Returns the schema of the input, without defaults, optionality and transformations. */
function unwrap(schema: z.ZodType): z.ZodType {
  const { def } = schema as unknown as { def: { innerType?: z.ZodType; in?: z.ZodType; type: string } }
  if (def.type === 'pipe' && def.in) return unwrap(def.in)
  return def.innerType && def.type !== 'array' ? unwrap(def.innerType) : schema
}
