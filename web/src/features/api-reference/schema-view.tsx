import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { cx } from '../../ui/class-names.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { type ApiDocument, limitsOf, resolved, type Schema, typeName } from './api-document.ts'

type SchemaViewProps = { document: ApiDocument; schema: Schema }
type Field = { name: string; schema: Schema; isRequired: boolean }

/** The fields of a schema; nested ones are rendered when opened, because a schema may contain itself. */
export function SchemaView({ document, schema }: SchemaViewProps) {
  const fields = fieldsOf(document, schema)
  return (
    <div className="flex flex-col gap-1.5">
      <p className="font-mono text-muted text-xs [overflow-wrap:anywhere]">{typeName(schema)}</p>
      {fields.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
          {fields.map((field) => (
            <li key={field.name} className="px-3 py-2">
              <ValueLine {...field} />
              {fieldsOf(document, field.schema).length > 0 && (
                <Nested name={field.name} document={document} schema={field.schema} />
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A parameter or field: name, type, limits and description. */
export function ValueLine({ name, schema, isRequired, note }: Field & { note?: string | undefined }) {
  const limits = limitsOf(schema)
  const text = note ?? schema.description
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-xs">
        <code className="font-semibold text-ink text-sm [overflow-wrap:anywhere]">{name}</code>
        <code className="min-w-0 text-muted [overflow-wrap:anywhere]">{typeName(schema)}</code>
        {isRequired && <span className="font-medium text-warning">required</span>}
        {limits && <span className="min-w-0 text-faint [overflow-wrap:anywhere]">{limits}</span>}
      </p>
      {text && <Markdown text={text} className="mt-0.5 text-muted text-sm!" />}
    </>
  )
}

function Nested({ name, document, schema }: SchemaViewProps & { name: string }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="mt-1 inline-flex min-h-6 items-center gap-1 rounded-sm text-accent text-xs hover:underline"
      >
        <ChevronRight aria-hidden className={cx('size-3', isOpen && 'rotate-90')} />
        {isOpen ? 'Hide' : 'Show'} the fields of {name}
      </button>
      <div id={id} className={isOpen ? 'mt-1.5' : 'hidden'}>
        {isOpen && <SchemaView document={document} schema={schema} />}
      </div>
    </>
  )
}

/** Returns the fields of an object, of the items of an array, and of all choices together. */
function fieldsOf(document: ApiDocument, schema: Schema, depth = 0): Field[] {
  if (depth > 5) return []
  const shape = resolved(document, schema)
  if (shape.items) return fieldsOf(document, shape.items, depth + 1)
  const own = Object.entries(shape.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    isRequired: shape.required?.includes(name) ?? false,
  }))
  const values = typeof shape.additionalProperties === 'object' ? shape.additionalProperties : null
  const parts = [...(shape.allOf ?? []), ...(shape.anyOf ?? []), ...(shape.oneOf ?? [])]
  const all = [
    ...own,
    ...(values && own.length === 0 ? [{ name: '{key}', schema: values, isRequired: false }] : []),
    ...parts.flatMap((part) => fieldsOf(document, part, depth + 1)),
  ]
  // The last declaration is the narrower one: `allOf` of an error body and its codes.
  return [...new Map(all.map((field) => [field.name, field])).values()]
}
