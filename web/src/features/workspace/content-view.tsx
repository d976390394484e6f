import { maxDownloadBytes } from '@roost/contracts/agents/workspace'
import { Download, FileQuestion, Lock, Upload } from 'lucide-react'
import { type ReactNode, Suspense } from 'react'
import { formatBytes } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeEditor } from '../../ui/code-editor.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { PlainText } from '../../ui/plain-text.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { fileTypeOf } from './file-type.ts'
import type { Formatted } from './formatted.ts'
import { ImageView } from './image-view.tsx'
import { MediaView } from './media-view.tsx'
import { isProtected, nameOf, visibleName } from './paths.ts'
import { type FileContent, shownBytes } from './read-file.ts'
import { TextFacts } from './text-facts.tsx'
import { languageOf } from './text-file.ts'

const Markdown = lazyPart(async () => (await import('../../ui/markdown.tsx')).Markdown)
const TableView = lazyPart(async () => (await import('./table-view.tsx')).TableView)
const PdfView = lazyPart(async () => (await import('./pdf-view.tsx')).PdfView)

export type ContentViewProps = {
  path: string
  file: FileContent
  /** Null: the source was chosen. */
  formatted: Formatted | null
  onDownload: () => void
  /** Null where the file cannot be replaced. */
  onReplace: (() => void) | null
}

/**
 * The content of a file. HTML and SVG are shown as text: nothing in a file runs here, and only raster images and the
 * pages of PDF files are drawn.
 */
export function ContentView({ path, file, formatted, onDownload, onReplace }: ContentViewProps) {
  const name = nameOf(path)
  const shown = visibleName(name)
  const saveIt = (
    <Button icon={<Download aria-hidden />} onClick={onDownload}>
      Download
    </Button>
  )
  const binary = (size: number) => (
    <NotShown
      title={`${shown} is not text`}
      description={`${fileTypeOf(name)}, ${formatBytes(size)}. No preview is available.`}
      action={
        <>
          {saveIt}
          {onReplace && (
            <Button icon={<Upload aria-hidden />} onClick={onReplace}>
              Replace…
            </Button>
          )}
        </>
      }
    />
  )
  switch (file.kind) {
    case 'text':
      return (
        <>
          {isProtected(path) && <ProtectedNote />}
          {formatted?.kind === 'markdown' ? (
            <ScrollRegion
              label={shown}
              className="min-h-0 flex-1 overflow-y-auto px-4 py-5 -outline-offset-2 md:px-8"
            >
              <Suspense fallback={<SkeletonText />}>
                <Markdown text={formatted.text} className="max-w-3xl" />
              </Suspense>
            </ScrollRegion>
          ) : formatted?.kind === 'table' ? (
            <Suspense fallback={<SkeletonText />}>
              <TableView text={formatted.text} label={`Table of ${shown}`} />
            </Suspense>
          ) : (
            <CodeEditor
              label={`Text of ${shown}`}
              value={formatted?.text ?? file.text}
              language={languageOf(name)}
              readOnly
              className="m-4 mb-0 flex-1"
            />
          )}
          <TextFacts text={file.text} ends={file.ends} />
        </>
      )
    case 'long':
      return (
        <div className="min-h-0 flex-1 overflow-y-auto p-4">
          <Banner tone="info" action={saveIt} className="mb-3">
            The first {formatBytes(shownBytes)} of {formatBytes(file.size)}. The file is too long to edit
            here.
          </Banner>
          <PlainText text={file.text} label={`Beginning of ${shown}`} />
        </div>
      )
    case 'image':
      return (
        <ImageView
          name={shown}
          file={file}
          fallback={<NotShown title={`${shown} is not a valid image`} size={file.size} action={saveIt} />}
        />
      )
    case 'pdf':
      return (
        <Suspense fallback={<SkeletonText />}>
          <PdfView name={shown} file={file} fallback={binary(file.size)} />
        </Suspense>
      )
    case 'media':
      return <MediaView name={shown} file={file} fallback={binary(file.size)} />
    case 'binary':
      return binary(file.size)
    case 'huge':
      return (
        <NotShown
          title={`${shown} is too large`}
          description={`Files above ${formatBytes(maxDownloadBytes)} cannot be viewed or downloaded here.`}
        />
      )
  }
}

function ProtectedNote() {
  return (
    <Banner tone="neutral" icon={<Lock aria-hidden />} title="Protected file" className="mx-4 mt-3">
      This file belongs to git, the credentials or the platform. It can be viewed but not edited or deleted.
    </Banner>
  )
}

function NotShown(props: { title: string; size?: number; description?: string; action?: ReactNode }) {
  const { title, size = 0, description = `No preview is available (${formatBytes(size)}).`, action } = props
  return (
    <div className="grid flex-1 place-items-center">
      <EmptyState
        icon={<FileQuestion aria-hidden />}
        title={title}
        description={description}
        action={action}
      />
    </div>
  )
}
