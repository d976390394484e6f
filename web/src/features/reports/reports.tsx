import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { CardHeader } from '../../ui/card.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Filters } from '../../ui/filters.tsx'
import { reportStatsQuery } from './queries.ts'
import { ReportRows } from './report-rows.tsx'
import { ReportView } from './report-view.tsx'

const route = getRouteApi('/signed-in/inbox')

/** All reports, or the one in the address. */
export function Reports() {
  const { report } = route.useSearch()
  return report === undefined ? <ReportList /> : <ReportView key={report} id={report} />
}

function ReportList() {
  const { agent, type } = route.useSearch()
  const navigate = route.useNavigate()
  const isFiltered = agent !== undefined || type !== undefined
  const change = (next: { agent?: string | undefined; type?: string | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false })
  return (
    <section aria-label="Reports" className="flex min-w-0 flex-col gap-3">
      <CardHeader
        title="Reports"
        description="Reports of agents. Reports cannot be changed."
        className="mb-0"
      />
      <Choices agent={agent} type={type} change={change} />
      <ReportRows
        filter={{ agent, type }}
        onOpen={(id) => void navigate({ search: (now) => ({ ...now, tab: 'reports', report: id }) })}
        onClear={isFiltered ? () => change({ agent: undefined, type: undefined }) : undefined}
      />
    </section>
  )
}

type ChoicesProps = {
  agent: string | undefined
  type: string | undefined
  change: (next: { agent?: string | undefined; type?: string | undefined }) => void
}

/** Filters by the existing types and agents. */
function Choices({ agent, type, change }: ChoicesProps) {
  const { data: stats } = useQuery(reportStatsQuery(useApi()))
  return (
    <Filters>
      <Combobox
        label="Report type"
        placeholder="All types"
        options={choicesOf(stats?.by_type)}
        value={type ?? null}
        onValueChange={(value) => change({ type: value ?? undefined })}
        clearable
        className="w-full sm:w-48"
      />
      <Combobox
        label="Agent"
        placeholder="All agents"
        options={choicesOf(stats?.by_agent)}
        value={agent ?? null}
        onValueChange={(value) => change({ agent: value ?? undefined })}
        clearable
        className="w-full sm:w-48"
      />
    </Filters>
  )
}

function choicesOf(counts: Record<string, number> | undefined) {
  return Object.entries(counts ?? {}).map(([value, count]) => ({ value, label: value, hint: String(count) }))
}
