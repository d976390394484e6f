import '../ui/tokens.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Transcript } from '../features/transcripts/transcript.tsx'
import { transcriptOf } from '../features/transcripts/transcript-of.ts'
import { useLiveTranscript } from '../features/transcripts/use-live-transcript.ts'
import { readEvents } from '../live/stream.ts'
import { browserSetting } from '../live/stream-setting.ts'
import { CodeEditor } from '../ui/code-editor.tsx'
import { LogView } from '../ui/log-view.tsx'
import { Markdown } from '../ui/markdown.tsx'

/** Untrusted content in the components that show it. The browser tests set it through `show`. */
export type Content =
  | { kind: 'markdown'; text: string; isStreaming?: boolean }
  | { kind: 'log'; text: string; isLive?: boolean }
  | { kind: 'transcript'; lines: unknown[]; isStreaming?: boolean }
  | { kind: 'live' }
  | { kind: 'editor'; text: string; language: string; readOnly?: boolean }

declare global {
  interface Window {
    show(content: Content): void
    /** The latest value of the editor. */
    edited: { text: string; saves: number }
    /** Feeds the stream of `live`: text of a response, or null to break the connection. */
    feed(text: string | null): void
  }
}

const search = new URLSearchParams(location.search)
document.documentElement.dataset.theme = search.get('theme') === 'dark' ? 'dark' : 'light'
window.edited = { text: '', saves: 0 }

function Page() {
  const [content, setContent] = useState<Content>({ kind: 'markdown', text: '' })
  window.show = setContent
  return (
    <main className="mx-auto max-w-4xl p-4 sm:p-8">
      <h1 className="mb-4 text-xl font-semibold">Content</h1>
      <h2 className="sr-only">Untrusted content</h2>
      <Shown content={content} />
    </main>
  )
}

function Shown({ content }: { content: Content }) {
  switch (content.kind) {
    case 'markdown':
      return <Markdown text={content.text} isStreaming={content.isStreaming} />
    case 'log':
      return <LogView text={content.text} isLive={content.isLive} className="h-[70vh]" />
    case 'transcript':
      return (
        <Transcript
          steps={transcriptOf(content.lines).steps}
          lines={content.lines}
          isStreaming={content.isStreaming}
          hasPermalinks
        />
      )
    case 'live':
      return <LiveRun />
    case 'editor':
      return (
        <CodeEditor
          label="File"
          value={content.text}
          language={content.language}
          readOnly={content.readOnly}
          onChange={(text) => {
            window.edited.text = text
          }}
          onSave={() => {
            window.edited.saves += 1
          }}
          className="h-96"
        />
      )
  }
}

/** Follows a run from responses that the test writes. */
function LiveRun() {
  const live = useLiveTranscript('run', (options) =>
    readEvents(async ({ signal }) => respond(signal), { ...options, setting: browserSetting() }),
  )
  return (
    <>
      <p role="status">{live.state}</p>
      <Transcript steps={live.transcript.steps} isStreaming={live.state !== 'ended'} />
    </>
  )
}

function respond(signal: AbortSignal): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason))
      window.feed = (text) => {
        if (text === null) controller.error(new TypeError('network error'))
        else controller.enqueue(new TextEncoder().encode(text))
      }
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const element = document.getElementById('root')
if (!element) throw new Error('The page has no element with the id “root”.')
createRoot(element).render(
  <QueryClientProvider client={new QueryClient()}>
    <Page />
  </QueryClientProvider>,
)
