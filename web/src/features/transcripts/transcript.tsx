import { memo, useMemo, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { LogView } from '../../ui/log-view.tsx'
import { useNear } from '../../ui/use-near.ts'
import { chunksOf, holdsLine } from './chunks.ts'
import { StepView } from './step-view.tsx'
import type { Step } from './steps.ts'
import { useHashLine } from './use-hash-line.ts'

export type TranscriptProps = {
  steps: readonly Step[]
  /** More steps may follow. */
  isStreaming?: boolean
  /** Each step links to its line (`#L12`), and the line in the address is scrolled to. */
  hasPermalinks?: boolean
  /** The line to show when the address names none. */
  line?: number | undefined
  /** Scrolls to that line; otherwise only marks it. */
  scrollsToLine?: boolean
  /** The stored lines; adds a switch to show them instead of the steps. */
  lines?: readonly unknown[]
  className?: string
}

/**
 * The steps of a run, oldest first. Supports thousands of steps: steps that were never near the screen are
 * not rendered.
 */
export function Transcript({
  steps,
  isStreaming = false,
  hasPermalinks = false,
  line,
  scrollsToLine = true,
  lines,
  className,
}: TranscriptProps) {
  const [isRaw, setIsRaw] = useState(false)
  return (
    <div className={cx('min-w-0', className)}>
      {lines && (
        <div className="mb-2 flex justify-end">
          <Button size="sm" variant="ghost" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
            Raw lines
          </Button>
        </div>
      )}
      {lines && isRaw ? (
        <RawLines lines={lines} />
      ) : (
        <Steps {...{ steps, isStreaming, hasPermalinks, line, scrollsToLine }} />
      )}
    </div>
  )
}

type StepsProps = {
  steps: readonly Step[]
  isStreaming: boolean
  hasPermalinks: boolean
  scrollsToLine: boolean
}

function Steps(props: StepsProps & { line: number | undefined }) {
  const { steps, isStreaming, hasPermalinks, scrollsToLine, line } = props
  const hashLine = useHashLine()
  const target = hasPermalinks ? (hashLine ?? line ?? null) : null
  const chunks = useMemo(() => chunksOf(steps), [steps])
  return (
    <ol className="flex flex-col gap-2" aria-label="Steps">
      {chunks.map((chunk, index) => (
        <Chunk
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are appended, so a chunk keeps its position
          key={index}
          steps={chunk}
          isLast={index === chunks.length - 1}
          isStreaming={isStreaming && index === chunks.length - 1}
          hasPermalinks={hasPermalinks}
          scrollsToLine={scrollsToLine || hashLine !== null}
          target={target !== null && holdsLine(chunk, chunks[index + 1], target) ? target : null}
        />
      ))}
    </ol>
  )
}

type ChunkProps = StepsProps & { isLast: boolean; target: number | null }

const Chunk = memo(function Chunk(props: ChunkProps) {
  const { steps, isLast, isStreaming, hasPermalinks, scrollsToLine, target } = props
  const { ref, isNear } = useNear<HTMLLIElement>(isLast || target !== null)
  const targetIndex =
    target === null ? -1 : steps.findLastIndex(({ line }) => line !== null && line <= target)
  return (
    <li
      ref={ref}
      className={chunkClass}
      style={isNear ? undefined : { height: steps.length * estimatedHeight }}
    >
      {isNear && (
        <ol className="flex flex-col gap-2">
          {steps.map((step, index) => (
            <StepView
              key={step.key}
              step={step}
              isStreaming={isStreaming && index === steps.length - 1}
              hasPermalink={hasPermalinks}
              isTarget={index === targetIndex}
              scrolls={scrollsToLine}
            />
          ))}
        </ol>
      )}
    </li>
  )
}, isSameChunk)

/** Chunks are rebuilt for every new line; most contain the same steps as before. */
function isSameChunk(before: ChunkProps, after: ChunkProps): boolean {
  return (
    before.isLast === after.isLast &&
    before.isStreaming === after.isStreaming &&
    before.hasPermalinks === after.hasPermalinks &&
    before.target === after.target &&
    before.scrollsToLine === after.scrollsToLine &&
    before.steps.length === after.steps.length &&
    before.steps.every((step, index) => step === after.steps[index])
  )
}

/** Estimated height in pixels of a step that was not rendered yet. */
const estimatedHeight = 48

const chunkClass = 'min-w-0 [content-visibility:auto] [contain-intrinsic-size:auto_1920px]'

function RawLines({ lines }: { lines: readonly unknown[] }) {
  const texts = useMemo(() => lines.map((line) => JSON.stringify(line) ?? ''), [lines])
  return <LogView lines={texts} label="Raw lines" fileName="transcript.ndjson" className="h-[70vh]" />
}
