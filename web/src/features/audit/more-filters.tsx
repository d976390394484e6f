import { useEffect, useState } from 'react'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import type { AuditSearch } from './filter.ts'
import { actorChoices, scopeChoices, sourceChoices } from './words.ts'

type MoreFiltersProps = { search: AuditSearch; change: (next: AuditSearch) => void }

/** Less common filters. */
export function MoreFilters({ search, change }: MoreFiltersProps) {
  return (
    <div className="flex flex-col gap-3">
      <Choice
        label="Actor type"
        any="All actor types"
        options={actorChoices}
        value={search.by}
        onChange={(by) => change({ by })}
      />
      <Choice
        label="Source"
        any="All sources"
        options={sourceChoices}
        value={search.source}
        onChange={(source) => change({ source })}
      />
      <Choice
        label="Key scope"
        any="All scopes"
        options={scopeChoices}
        value={search.scope}
        onChange={(scope) => change({ scope })}
      />
      <Exact
        label="Action"
        hint="The exact action of an entry, for example set_role"
        value={search.action}
        onChange={(action) => change({ action })}
      />
      <Exact
        label="Request ID"
        hint="The request ID shown with an error"
        value={search.request}
        onChange={(request) => change({ request })}
      />
    </div>
  )
}

function Choice(props: {
  label: string
  any: string
  options: readonly { value: string; label: string }[]
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const options = [{ value: 'any', label: props.any }, ...props.options]
  return (
    <Field label={props.label}>
      <Select
        options={options}
        value={options.find(({ value }) => value === props.value)?.value ?? 'any'}
        onValueChange={(value) => props.onChange(value === 'any' ? undefined : value)}
        className="w-full"
      />
    </Field>
  )
}

/** Matches whole values only, so it applies on blur or Enter. */
function Exact(props: {
  label: string
  hint: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const [text, setText] = useState(props.value ?? '')
  // Follows when the filter is cleared from outside.
  useEffect(() => setText(props.value ?? ''), [props.value])
  const commit = () => {
    const value = text.trim() || undefined
    if (value !== props.value) props.onChange(value)
  }
  return (
    <Field label={props.label} hint={props.hint}>
      <Input
        mono
        spellCheck={false}
        autoComplete="off"
        maxLength={500}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
    </Field>
  )
}
