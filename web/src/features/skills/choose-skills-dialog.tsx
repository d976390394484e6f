import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { FaultCode } from '../../ui/fault-code.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { useSetSkills } from './actions.ts'
import { libraryQuery } from './queries.ts'
import { filterSkills, skillRows } from './skill-rows.ts'

type ChooseSkillsProps = {
  name: string
  /** The assigned skills; null keeps the dialog closed. */
  assigned: readonly string[] | null
  onClose: () => void
}

/** Sets all skills of an agent. */
export function ChooseSkillsDialog({ name, assigned, onClose }: ChooseSkillsProps) {
  return (
    <Dialog
      open={assigned !== null}
      onOpenChange={onClose}
      size="lg"
      title={`Skills of ${name}`}
      description="Selected skills are delivered. Unselected skills are removed from the workspace."
    >
      {assigned !== null && <Choice name={name} assigned={assigned} onClose={onClose} />}
    </Dialog>
  )
}

function Choice({ name, assigned, onClose }: ChooseSkillsProps & { assigned: readonly string[] }) {
  const library = useQuery(libraryQuery(useApi()))
  // Assignments by others must not change the selection in this dialog.
  const [before] = useState<ReadonlySet<string>>(() => new Set(assigned))
  const [chosen, setChosen] = useState(before)
  const [q, setQ] = useState('')
  const set = useSetSkills(name)
  if (!library.data) {
    return library.error ? (
      <ErrorState error={library.error} onRetry={() => void library.refetch()} />
    ) : (
      <SkeletonList />
    )
  }
  const holders = Object.fromEntries([...before].map((skill) => [skill, [{ name, label: null }]]))
  const all = skillRows(library.data, holders)
  const rows = filterSkills(all, { q })
  const changed = all.filter((row) => before.has(row.name) !== chosen.has(row.name)).length
  const fault = set.error && describeFault(set.error)
  return (
    <div className="flex flex-col gap-3">
      <SearchInput label="Search skills" value={q} onValueChange={setQ} data-autofocus />
      <ul aria-label="Skills" className="flex max-h-[50dvh] min-h-24 flex-col overflow-y-auto">
        {rows.map(({ name: skill, skill: details }) => (
          <li key={skill} className="border-b py-2 last:border-b-0">
            <Checkbox
              checked={chosen.has(skill)}
              onCheckedChange={(isOn) =>
                setChosen(new Set(isOn ? [...chosen, skill] : [...chosen].filter((each) => each !== skill)))
              }
              hint={details === null ? 'No longer in any enabled source.' : details.description}
            >
              {skill} {details && <span className="text-muted text-xs">{details.source_name}</span>}
            </Checkbox>
          </li>
        ))}
        {rows.length === 0 && <li className="py-6 text-center text-muted text-sm">No matching skills.</li>}
      </ul>
      {fault && (
        <Banner tone="danger" title={fault.sentence}>
          <span className="text-xs">
            <FaultCode code={fault.code} />
          </span>
        </Banner>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Link to="/library" search={{ tab: 'skills' }} className="text-accent text-sm hover:underline">
          Go to library
        </Link>
        <span className="ml-auto text-muted text-xs" role="status">
          {changed === 0 ? plural(chosen.size, 'skill') : plural(changed, 'change')}
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          disabled={changed === 0}
          pending={set.isPending}
          onClick={() => set.mutate(chosen, { onSuccess: onClose })}
        >
          Save
        </Button>
      </div>
    </div>
  )
}
