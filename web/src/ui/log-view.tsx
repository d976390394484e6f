import { ArrowDown } from 'lucide-react'
import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { saveBlob } from '../lib/save-blob.ts'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import { linesOf, logRows } from './log-rows.ts'
import { LogRows } from './log-rows-view.tsx'
import type { LogQuery } from './log-search.ts'
import { LogToolbar } from './log-toolbar.tsx'
import { useLogSearch } from './use-log-search.ts'

export type LogViewProps = {
  /** The whole text, or its lines; `lines` takes precedence. */
  text?: string
  lines?: readonly string[]
  /** The accessible name. */
  label?: string
  /** The name of the downloaded file. */
  fileName?: string
  /** The log may grow: it can be followed and paused. */
  isLive?: boolean
  /** Scrolls to the end as lines arrive. Omitted: internal state that starts as `isLive`. */
  follow?: boolean
  /** Also called when the user scrolls away from the end or back to it. */
  onFollowChange?: (follow: boolean) => void
  /** Shown while there are no lines. */
  empty?: string
  /** Needs a height; scrolls inside. */
  className?: string
}

/** A log of any length that renders only visible rows. Keys: `/` searches, `n` and `N` step, `f` follows. */
export function LogView({
  text = '',
  lines,
  label = 'Log',
  fileName = 'log.txt',
  isLive = false,
  follow,
  onFollowChange = () => {},
  empty = 'No log lines yet.',
  className,
}: LogViewProps) {
  const [ownFollow, setOwnFollow] = useState(isLive)
  const [isWrapped, setIsWrapped] = useState(false)
  const [query, setQuery] = useState<LogQuery>({ text: '', isRegex: false, isCaseSensitive: false })
  const [current, setCurrent] = useState(0)
  const searchBox = useRef<HTMLDivElement>(null)
  const allLines = useMemo(() => lines ?? linesOf(text), [lines, text])
  const rows = useMemo(() => logRows(allLines), [allLines])
  const whole = useMemo(() => (lines ? lines.join('\n') : text), [lines, text])
  const search = useLogSearch(rows.texts, query)
  const [readLines, setReadLines] = useState(allLines.length)
  const isFollowing = isLive && (follow ?? ownFollow)
  if (isFollowing && readLines !== allLines.length) setReadLines(allLines.length)

  const setFollow = (next: boolean) => {
    setOwnFollow(next)
    onFollowChange(next)
  }
  const step = (by: 1 | -1) => {
    if (search.count === 0) return
    setCurrent((current + by + search.count) % search.count)
    if (isFollowing) setFollow(false)
  }
  const changeQuery = (next: LogQuery) => {
    setQuery(next)
    setCurrent(0)
  }
  const keys: Record<string, () => void> = {
    '/': () => searchBox.current?.querySelector('input')?.focus(),
    n: () => step(1),
    N: () => step(-1),
    w: () => setIsWrapped(!isWrapped),
    ...(isLive ? { f: () => setFollow(!isFollowing) } : {}),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isFind = event.key === 'f' && (event.ctrlKey || event.metaKey)
    const act = isFind
      ? keys['/']
      : event.ctrlKey || event.metaKey || event.altKey
        ? undefined
        : keys[event.key]
    if (!act || (event.target instanceof HTMLInputElement && !isFind)) return
    event.preventDefault()
    act()
  }
  const place = Math.min(current, search.count - 1)
  const unreadLines = allLines.length - readLines
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys of the focused element inside
    <div
      className={cx(
        'flex min-h-40 min-w-0 flex-col overflow-hidden rounded-md border border-line bg-sunken',
        className,
      )}
      onKeyDown={onKeyDown}
    >
      <LogToolbar
        query={query}
        onQueryChange={changeQuery}
        found={search.count > 0 ? `${(place + 1).toLocaleString('en')} of ${search.words}` : search.words}
        hasMatches={search.count > 0}
        onStep={step}
        isWrapped={isWrapped}
        onWrapChange={setIsWrapped}
        isFollowing={isLive ? isFollowing : null}
        onFollowChange={setFollow}
        text={whole}
        onDownload={() => saveBlob(new Blob([whole], { type: 'text/plain' }), fileName)}
        searchRef={searchBox}
      />
      <div className="relative flex min-h-0 flex-1 flex-col">
        <LogRows
          label={label}
          rows={rows}
          isWrapped={isWrapped}
          search={search}
          current={place}
          isFollowing={isFollowing}
          onFollowChange={isLive ? setFollow : null}
          empty={empty}
        />
        {isLive && !isFollowing && unreadLines > 0 && (
          // A row of its own: a floating button would cover the newest lines.
          <div className="flex shrink-0 justify-center border-line border-t py-1">
            <Button
              size="sm"
              variant="primary"
              icon={<ArrowDown aria-hidden />}
              onClick={() => setFollow(true)}
            >
              {unreadLines === 1 ? '1 new line' : `${unreadLines.toLocaleString('en')} new lines`}
            </Button>
          </div>
        )}
      </div>
    </div>
  )
}
