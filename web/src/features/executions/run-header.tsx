import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Check, Columns2, Hash, Link2, MoreHorizontal, PenLine, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { Button, buttonClass, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { toast } from '../../ui/toast.tsx'
import { useRunAgain, useStop } from './actions.ts'
import { causeLine } from './cause.ts'
import { ExecutionStatus } from './execution-status.tsx'
import { titleOf } from './first-line.ts'
import { listFilter } from './list-filter.ts'
import { neighboursQuery } from './queries.ts'
import { isOpen, isRepeatable } from './run-acts.ts'
import { comparisonOf } from './run-page.ts'

/** The identity, the status and the actions of the run. */
export function RunHeader({ run, list }: { run: ExecutionDetails; list: string | undefined }) {
  return (
    <PageHeader
      back={
        <span className="flex min-w-0 flex-wrap items-center gap-1.5">
          <Origin run={run} />
          <span aria-hidden className="max-sm:hidden">
            /
          </span>
          <span className="font-mono text-faint max-sm:hidden">{run.id}</span>
        </span>
      }
      title={
        <span className="line-clamp-2">{run.redacted ? 'Private conversation' : titleOf(run.message)}</span>
      }
      description={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <ExecutionStatus status={run.status} />
          <span>{causeLine(run)}</span>
          {run.attempt_number > 1 && <span>Attempt {run.attempt_number}</span>}
        </span>
      }
      aside={<PageHelp guide="concepts/runs" topic="Runs and their states" />}
      actions={<Actions run={run} list={list} />}
    />
  )
}

/** Breadcrumbs. A deleted agent has no page. */
function Origin({ run: { agent_name: name, agent_deleted } }: { run: ExecutionDetails }) {
  if (agent_deleted) {
    return (
      <>
        <span>{name} (deleted)</span>
        <span aria-hidden>/</span>
        <Link to="/runs">Runs</Link>
      </>
    )
  }
  return (
    <>
      <Link to="/agents/$name" params={{ name }}>
        {name}
      </Link>
      <span aria-hidden>/</span>
      <Link to="/agents/$name" params={{ name }} search={{ tab: 'executions' }}>
        Runs
      </Link>
    </>
  )
}

function Actions({ run, list }: { run: ExecutionDetails; list: string | undefined }) {
  const { data: beside } = useQuery(neighboursQuery(useApi(), run.id, listFilter(list, run.agent_name)))
  const comparison = beside?.previous ? comparisonOf([beside.previous, run]) : null
  const navigate = useNavigate()
  const stop = useStop(run.agent_name)
  const again = useRunAgain(run.agent_name, (id) => {
    void navigate({ to: '/agents/$name/executions/$id', params: { name: run.agent_name, id } })
  })
  const copy = (text: string, what: string) =>
    copyText(text).then(
      () => toast({ title: `${what} copied.`, tone: 'success' }),
      () => toast({ title: 'The browser did not allow copying.', tone: 'danger' }),
    )
  return (
    <>
      {isOpen(run) ? (
        <Button
          variant="danger"
          icon={<StopIcon />}
          pending={stop.isPending}
          onClick={() => stop.mutate(run.id)}
        >
          Stop
        </Button>
      ) : (
        isRepeatable(run) && (
          <RetryAsNew run={run} isPending={again.isPending} onRetry={() => again.run(run)} />
        )
      )}
      {isRepeatable(run) && (
        <Link
          to="/agents/$name"
          params={{ name: run.agent_name }}
          search={{ tab: 'executions', from: run.id }}
          className={buttonClass()}
        >
          <PenLine aria-hidden />
          Retry with changes
        </Link>
      )}
      <Menu
        trigger={<IconButton label="More actions" icon={<MoreHorizontal aria-hidden />} />}
        items={[
          {
            label: 'Copy run ID',
            icon: <Hash aria-hidden />,
            onSelect: () => void copy(run.id, 'Run ID'),
          },
          {
            label: 'Copy link',
            icon: <Link2 aria-hidden />,
            onSelect: () => void copy(location.href, 'Link'),
          },
          comparison && {
            element: (
              <Link {...comparison}>
                <Columns2 aria-hidden />
                Compare with the previous run
              </Link>
            ),
          },
          run.response !== null && {
            label: 'Copy answer',
            icon: <Check aria-hidden />,
            onSelect: () => void copy(run.response ?? '', 'Answer'),
          },
        ]}
      />
    </>
  )
}

type RetryProps = { run: ExecutionDetails; isPending: boolean; onRetry: () => void }

function RetryAsNew({ run, isPending, onRetry }: RetryProps) {
  const [isAsking, setAsking] = useState(false)
  const files = plural(run.attachment_count, 'file')
  return (
    <>
      <Button
        icon={<RotateCw aria-hidden />}
        pending={isPending}
        onClick={() => (run.attachment_count === 0 ? onRetry() : setAsking(true))}
      >
        Retry
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        tone="primary"
        title="Retry without files?"
        description={`Files are deleted when a run ends, so the ${files} of this run cannot be sent again. To include files, use “Retry with changes” and attach them.`}
        action="Retry without files"
        onConfirm={() => {
          setAsking(false)
          onRetry()
        }}
      />
    </>
  )
}
