import { type ReactNode, useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { type ApiDocument, exampleOf, type Operation, type Parameter, type Reply } from './api-document.ts'
import { MethodBadge } from './method-badge.tsx'
import { type Language, languages, requestOf, sampleOf, type Values } from './request.ts'
import { SchemaView, ValueLine } from './schema-view.tsx'
import { TryOut } from './try-out.tsx'

type OperationViewProps = { document: ApiDocument; operation: Operation }

/** One operation: what it does and takes on the left, samples and the form to send it on the right. */
export function OperationView({ document, operation }: OperationViewProps) {
  const [values, setValues] = useState<Values>(() => initialValues(document, operation))
  const { method, path, summary, description, parameters, body, replies } = operation
  return (
    <article className="flex min-w-0 flex-col gap-5">
      <header className="flex flex-col gap-2">
        <h1 className="font-semibold text-2xl tracking-tight">{summary}</h1>
        <p className="flex min-w-0 items-center gap-2 rounded-md border border-line bg-sunken py-0.5 pr-1 pl-3">
          <MethodBadge method={method} className="text-xs" />
          <code className="min-w-0 flex-1 text-sm [overflow-wrap:anywhere]">{path}</code>
          <CopyButton text={path} label="Copy the path" />
        </p>
      </header>
      <div className="grid min-w-0 gap-x-8 gap-y-6 xl:grid-cols-[minmax(0,1fr)_minmax(0,27rem)]">
        <div className="flex min-w-0 flex-col gap-6">
          <Markdown text={description} />
          {parameters.length > 0 && (
            <Part title="Parameters">
              <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
                {parameters.toSorted(byPlace).map((one) => (
                  <li key={`${one.in} ${one.name}`} className="px-3 py-2">
                    <ValueLine
                      name={one.name}
                      schema={one.schema}
                      isRequired={one.required ?? false}
                      note={[`In the ${one.in}.`, one.description].filter(Boolean).join(' ')}
                    />
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {body && (
            <Part title="Body" note={body.mediaType}>
              <SchemaView document={document} schema={body.schema} />
            </Part>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-6 xl:row-span-2">
          <Samples operation={operation} values={values} />
          <Part title="Try it">
            <TryOut operation={operation} values={values} onChange={setValues} />
          </Part>
        </div>
        <Part title="Responses">
          <ul className="flex flex-col gap-2">
            {replies.map((reply) => (
              <li key={reply.status}>
                <ReplyView document={document} reply={reply} />
              </li>
            ))}
          </ul>
        </Part>
      </div>
    </article>
  )
}

const places: readonly string[] = ['path', 'query', 'header']

/** Headers last: most calls need none. */
function byPlace(one: Parameter, other: Parameter): number {
  return places.indexOf(one.in) - places.indexOf(other.in)
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h2 className="flex items-baseline gap-2 font-semibold text-base">
        {title}
        {note && <span className="font-normal text-muted text-xs">{note}</span>}
      </h2>
      {children}
    </section>
  )
}

function Samples({ operation, values }: { operation: Operation; values: Values }) {
  const [stored, setLanguage] = useStoredState<Language>('docs.language', 'curl')
  const { value, highlight } = languages.find((each) => each.value === stored) ?? languages[0]
  const { needsToken } = operation
  return (
    <Part title="Code sample">
      <Segmented<Language>
        label="Language of the sample"
        size="sm"
        options={languages}
        value={value}
        onValueChange={setLanguage}
      />
      <CodeBlock
        language={highlight}
        code={sampleOf(value, requestOf(operation, values), { origin: location.origin, needsToken })}
      />
    </Part>
  )
}

function ReplyView({ document, reply }: { document: ApiDocument; reply: Reply }) {
  const { status, description, mediaType, schema } = reply
  const isSuccess = status < '400'
  return (
    <div className="rounded-md border border-line px-3 py-2">
      <div className="flex min-w-0 items-start gap-2">
        <Badge tone={isSuccess ? 'success' : 'neutral'} className="mt-0.5">
          {status}
        </Badge>
        <Markdown text={description} className="gap-1! text-sm!" />
      </div>
      {/* All errors have the same body, which the guide describes. */}
      {isSuccess && schema && (
        <div className="mt-2">
          {mediaType !== 'application/json' && <p className="text-muted text-xs">{mediaType}</p>}
          <SchemaView document={document} schema={schema} />
        </div>
      )}
    </div>
  )
}

function initialValues(document: ApiDocument, { body }: Operation): Values {
  if (!body) return { parameters: {}, body: '' }
  const example = exampleOf(document, body.schema)
  if (body.mediaType === 'application/x-www-form-urlencoded')
    return { parameters: {}, body: new URLSearchParams(example as Record<string, string>).toString() }
  return { parameters: {}, body: /json/.test(body.mediaType) ? JSON.stringify(example, null, 2) : '' }
}
