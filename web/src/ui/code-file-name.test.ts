import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeFileName } from './code-file-name.ts'

test('a saved code block has the name of its file, else the extension of its language', () => {
  const names: [title: string | undefined, language: string, name: string][] = [
    ['/home/developer/src/main.py', 'python', 'main.py'],
    ['C:\\work\\notes v2.md', '', 'notes v2.md'],
    ['Command', 'bash', 'code.sh'],
    [undefined, 'TypeScript', 'code.ts'],
    [undefined, 'go', 'code.go'],
    [undefined, '', 'code.txt'],
    [undefined, '../../evil', 'code.txt'],
    ['..', 'json', 'code.json'],
    ['.bashrc', '', 'code.txt'],
    ['a\u202egnp.exe', 'json', 'code.json'],
  ]
  for (const [title, language, name] of names) assert.equal(codeFileName(title, language), name)
})
