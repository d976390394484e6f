import {
  ArrowDownToLine,
  CaseSensitive,
  ChevronDown,
  ChevronUp,
  Download,
  Pause,
  Regex,
  WrapText,
} from 'lucide-react'
import type { KeyboardEvent, Ref } from 'react'
import { IconButton } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { SearchInput } from './input.tsx'
import type { LogQuery } from './log-search.ts'

export type LogToolbarProps = {
  query: LogQuery
  onQueryChange: (query: LogQuery) => void
  /** `3 of 12`, or why the search failed; empty without a search. */
  found: string
  hasMatches: boolean
  onStep: (by: 1 | -1) => void
  isWrapped: boolean
  onWrapChange: (isWrapped: boolean) => void
  /** Null when the log does not grow. */
  isFollowing: boolean | null
  onFollowChange: (isFollowing: boolean) => void
  text: string
  onDownload: () => void
  searchRef: Ref<HTMLDivElement>
}

export function LogToolbar(props: LogToolbarProps) {
  const { query, onQueryChange, found, hasMatches, onStep, isFollowing } = props
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1)
    else if (event.key === 'Escape' && query.text !== '') onQueryChange({ ...query, text: '' })
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      role="toolbar"
      aria-label="Log"
      className="flex flex-wrap items-center gap-1 border-b border-line bg-surface p-1.5"
    >
      <div
        ref={props.searchRef}
        className="flex min-w-0 flex-1 basis-full items-center gap-1 sm:max-w-md sm:basis-56"
      >
        <SearchInput
          label="Search log"
          value={query.text}
          onValueChange={(text) => onQueryChange({ ...query, text })}
          onKeyDown={onKeyDown}
          className="flex-1"
        />
        <span
          role="status"
          data-numeric
          className="min-w-14 text-center empty:min-w-0 text-xs whitespace-nowrap text-muted"
        >
          {found}
        </span>
      </div>
      <IconButton
        size="sm"
        label="Previous match"
        icon={<ChevronUp aria-hidden />}
        disabled={!hasMatches}
        onClick={() => onStep(-1)}
      />
      <IconButton
        size="sm"
        label="Next match"
        icon={<ChevronDown aria-hidden />}
        disabled={!hasMatches}
        onClick={() => onStep(1)}
      />
      <IconButton
        size="sm"
        label="Match case"
        aria-pressed={query.isCaseSensitive}
        icon={<CaseSensitive aria-hidden />}
        onClick={() => onQueryChange({ ...query, isCaseSensitive: !query.isCaseSensitive })}
      />
      <IconButton
        size="sm"
        label="Regular expression"
        aria-pressed={query.isRegex}
        icon={<Regex aria-hidden />}
        onClick={() => onQueryChange({ ...query, isRegex: !query.isRegex })}
      />
      <span className="flex-1" />
      {isFollowing !== null && (
        <IconButton
          size="sm"
          label={isFollowing ? 'Pause' : 'Follow'}
          icon={isFollowing ? <Pause aria-hidden /> : <ArrowDownToLine aria-hidden />}
          onClick={() => props.onFollowChange(!isFollowing)}
        />
      )}
      <IconButton
        size="sm"
        label="Wrap long lines"
        aria-pressed={props.isWrapped}
        icon={<WrapText aria-hidden />}
        onClick={() => props.onWrapChange(!props.isWrapped)}
      />
      <CopyButton text={props.text} label="Copy log" />
      <IconButton size="sm" label="Download log" icon={<Download aria-hidden />} onClick={props.onDownload} />
    </div>
  )
}
