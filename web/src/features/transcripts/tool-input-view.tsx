import { useMemo } from 'react'
import { CodeBlock } from '../../ui/code-block.tsx'
import { differenceOf, languageOfPath, toolInputOf } from './tool-input.ts'

/** The input of a tool: a command, an edit as removed and added lines, else JSON. */
export function ToolInputView({ input }: { input: unknown }) {
  const read = useMemo(() => toolInputOf(input), [input])
  switch (read.kind) {
    case 'command':
      return (
        <>
          <CodeBlock code={read.command} language="bash" title={read.description || 'Command'} />
          <Rest fields={read.rest} />
        </>
      )
    case 'write':
      return (
        <>
          <CodeBlock code={read.content} language={languageOfPath(read.path)} title={read.path} />
          <Rest fields={read.rest} />
        </>
      )
    case 'edit':
      return (
        <>
          {read.edits.map((edit, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a call never change
            <CodeBlock key={index} code={differenceOf(edit)} language="diff" title={read.path} />
          ))}
          <Rest fields={read.rest} />
        </>
      )
    case 'json':
      return <CodeBlock code={jsonOf(read.input)} language="json" title="Input" />
  }
}

function Rest({ fields }: { fields: Record<string, unknown> }) {
  if (Object.keys(fields).length === 0) return null
  return <CodeBlock code={jsonOf(fields)} language="json" title="Options" />
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}
