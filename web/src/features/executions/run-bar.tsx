import type { ExecutionDetails, ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type RefObject, useEffect, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { buttonClass } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { ExecutionStatus } from './execution-status.tsx'
import { titleOf } from './first-line.ts'
import { listFilter } from './list-filter.ts'
import { neighboursQuery } from './queries.ts'
import { pageOf } from './run-page.ts'

type RunBarProps = {
  run: ExecutionDetails
  /** The filter of the list that the run was opened from. */
  list: string | undefined
  /** While it is on the screen, the bar does not repeat its content. */
  header: RefObject<HTMLElement | null>
}

/** Stays at the top: the run's title and status once the header is scrolled away, and the runs beside it. */
export function RunBar({ run, list, header }: RunBarProps) {
  const { data } = useQuery(neighboursQuery(useApi(), run.id, listFilter(list, run.agent_name)))
  const isAway = useIsAway(header)
  return (
    <div className="sticky top-12 z-sticky -mx-4 mb-3 flex h-10 items-center gap-2 border-line border-b bg-canvas px-4 md:top-0 md:-mx-8 md:px-8">
      {isAway && (
        <span className="flex min-w-0 items-center gap-2 text-sm">
          <ExecutionStatus status={run.status} compact />
          <span className="truncate font-medium">
            {run.redacted ? 'Private conversation' : titleOf(run.message)}
          </span>
        </span>
      )}
      <nav aria-label="Runs beside this one" className="ml-auto flex shrink-0 items-center gap-1">
        <Beside run={data?.previous} list={list} label="Previous run" icon={<ChevronLeft aria-hidden />} />
        <Beside run={data?.next} list={list} label="Next run" icon={<ChevronRight aria-hidden />} isEnd />
      </nav>
    </div>
  )
}

type BesideProps = {
  run: ExecutionSummary | null | undefined
  list: string | undefined
  label: string
  icon: React.ReactNode
  isEnd?: boolean
}

function Beside({ run, list, label, icon, isEnd = false }: BesideProps) {
  const content = (
    <>
      {!isEnd && icon}
      <span className="max-sm:sr-only">{label}</span>
      {isEnd && icon}
    </>
  )
  const look = buttonClass({ size: 'sm', variant: 'ghost' })
  if (run) {
    return (
      <Link {...pageOf(run, list)} className={look}>
        {content}
      </Link>
    )
  }
  return (
    // A link without an address, so that the bar keeps its shape at both ends of the list.
    // biome-ignore lint/a11y/useValidAnchor: disabled
    <a role="link" aria-disabled className={cx(look, 'pointer-events-none opacity-50')}>
      {content}
    </a>
  )
}

/** Whether an element is above the visible part of the page. */
function useIsAway(element: RefObject<HTMLElement | null>): boolean {
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    if (!element.current) return
    const observer = new IntersectionObserver(([entry]) => setAway(entry?.isIntersecting === false))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return isAway
}
