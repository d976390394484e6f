import type { WorkspaceChange, WorkspaceDiff } from '@roost/contracts/agents/workspace-history'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Bytes } from '../../ui/bytes.tsx'
import { diffLines } from '../../ui/diff-lines.ts'
import { DiffView } from '../../ui/diff-view.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { HighlightedCode } from '../../ui/highlighted-code.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { useObjectUrl } from '../../ui/use-object-url.ts'
import { visibleName } from '../workspace/paths.ts'
import { type ChangesOf, diffQuery, imageQuery, type Named } from './queries.ts'

/** Larger images are not shown. */
const maxImageBytes = 20 * 1024 * 1024
/** Longer lines are not coloured. */
const maxColouredLine = 500

/** What changed in one file. */
export function DiffBody({
  agentName,
  of,
  change,
}: {
  agentName: string
  of: ChangesOf
  change: WorkspaceChange
}) {
  const { data, error, refetch } = useQuery(diffQuery(useApi(), of, change))
  if (error && !data)
    return <ErrorState title="Could not load the diff" error={error} onRetry={() => void refetch()} />
  if (!data) return <SkeletonText label="Loading the diff" />
  if (data.content === 'image') return <Images agentName={agentName} diff={data} />
  if (data.content === 'text' || data.content === 'link') return <Lines diff={data} />
  return (
    <p className="text-muted text-xs">
      {noteOf[data.content]} <Sizes diff={data} />
    </p>
  )
}

const noteOf: Record<Exclude<WorkspaceDiff['content'], 'text' | 'link' | 'image'>, string> = {
  binary: 'Binary file:',
  folder: 'Folder:',
  too_large: 'The file is too large to compare:',
}

function Lines({ diff }: { diff: WorkspaceDiff }) {
  const text = diff.diff ?? ''
  const lines = useMemo(() => (text === '' ? [] : diffLines(text)), [text])
  const language = /\.([a-z0-9]+)$/i.exec(diff.path)?.[1] ?? ''
  const colour = (code: string) =>
    code.length > maxColouredLine ? code : <HighlightedCode code={code} language={language} />
  return (
    <>
      {lines.length > 0 && (
        <DiffView
          lines={lines}
          label={`Changes of ${visibleName(diff.path)}`}
          {...(language === '' ? {} : { colour })}
        />
      )}
      {lines.length === 0 && <p className="text-muted text-xs">{sameContent(diff)}</p>}
      {diff.truncated && <p className="text-muted text-xs">The diff is too long and is cut here.</p>}
    </>
  )
}

function sameContent({ before, after }: WorkspaceDiff): string {
  if (before && after && before.mode !== after.mode)
    return `The content is the same. Permissions: ${before.mode} → ${after.mode}.`
  return before && after ? 'The content is the same.' : 'The file is empty.'
}

function Sizes({ diff: { before, after } }: { diff: WorkspaceDiff }) {
  return (
    <>
      {before && <Bytes bytes={before.size} />}
      {before && after && ' → '}
      {after && <Bytes bytes={after.size} />}
    </>
  )
}

function Images({ agentName, diff }: { agentName: string; diff: WorkspaceDiff }) {
  const { before, after, path, path_bytes, from, from_bytes } = diff
  const named = { path, ...(path_bytes === undefined ? {} : { path_bytes }) }
  const earlier =
    from === undefined
      ? named
      : { path: from, ...(from_bytes === undefined ? {} : { path_bytes: from_bytes }) }
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {before && (
        <Side
          title="Before"
          file={earlier}
          record={diff.before_id}
          size={before.size}
          agentName={agentName}
        />
      )}
      {after && (
        <Side title="After" file={named} record={diff.after_id} size={after.size} agentName={agentName} />
      )}
    </div>
  )
}

type SideProps = { title: string; file: Named; record: string; size: number; agentName: string }

function Side({ title, file, record, size, agentName }: SideProps) {
  const isShown = size <= maxImageBytes
  const image = useQuery({ ...imageQuery(useApi(), agentName, record, file), enabled: isShown })
  return (
    <figure className="min-w-0">
      <div className="grid min-h-24 place-items-center rounded-md border border-line bg-sunken p-3">
        {image.data && <Drawn blob={image.data} alt={`${title}: ${visibleName(file.path)}`} />}
        {image.error && <p className="text-muted text-xs">The image could not be loaded.</p>}
        {!isShown && <p className="text-muted text-xs">The image is too large to show.</p>}
      </div>
      <figcaption className="mt-1 text-muted text-xs">
        {title}, <Bytes bytes={size} />
      </figcaption>
    </figure>
  )
}

function Drawn({ blob, alt }: { blob: Blob; alt: string }) {
  const url = useObjectUrl(blob)
  return url && <img src={url} alt={alt} className="max-h-80 max-w-full object-contain" />
}
