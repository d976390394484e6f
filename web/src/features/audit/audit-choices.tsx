import type { ManagedUser } from '@roost/contracts/identity/people'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { keysQuery } from '../keys/queries.ts'
import type { AuditSearch } from './filter.ts'
import { outcomeChoices, typeChoices } from './words.ts'

type AuditChoicesProps = {
  search: AuditSearch
  change: (next: AuditSearch) => void
  people: readonly ManagedUser[]
  /** The options of each filter. */
  className?: string
}

/** Filters by subject, outcome, user, agent and key. */
export function AuditChoices({ search, change, people, className }: AuditChoicesProps) {
  const api = useApi()
  const { data: agents } = useQuery(agentsQuery(api))
  const { data: keys } = useQuery(keysQuery(api, { all: true }))
  return (
    <>
      <Choice
        className={className}
        label="Subject"
        placeholder="All subjects"
        options={typeChoices}
        value={search.type}
        onChange={(type) => change({ type })}
      />
      <Choice
        className={className}
        label="Outcome"
        placeholder="All outcomes"
        options={outcomeChoices}
        value={search.outcome}
        onChange={(outcome) => change({ outcome })}
      />
      <Choice
        className={className}
        label="User"
        placeholder="All users"
        options={people.map(({ id, name, username }) => ({
          value: id,
          label: name?.trim() || username,
          hint: username,
        }))}
        value={search.actor}
        onChange={(actor) => change({ actor })}
      />
      <Choice
        className={className}
        label="Agent"
        placeholder="All agents"
        options={(agents ?? []).map(({ name, label }) => ({ value: name, label: label ?? name }))}
        value={search.agent}
        onChange={(agent) => change({ agent })}
      />
      <Choice
        className={className}
        label="Key"
        placeholder="All keys"
        options={(keys ?? []).map((key) => ({
          value: key.id,
          label: key.name,
          hint: `${key.username} · ${key.key_prefix}…`,
        }))}
        value={search.key}
        onChange={(key) => change({ key })}
      />
    </>
  )
}

function Choice(props: {
  label: string
  placeholder: string
  options: { value: string; label: string; hint?: string }[]
  value: string | undefined
  onChange: (value: string | undefined) => void
  className: string | undefined
}) {
  return (
    <Combobox
      label={props.label}
      placeholder={props.placeholder}
      options={props.options}
      value={props.value ?? null}
      onValueChange={(value) => props.onChange(value ?? undefined)}
      clearable
      className={cx(props.className)}
    />
  )
}
