import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { fastify } from 'fastify'
import { chromium } from 'playwright-core'
import { serveDocs } from './docs.ts'

async function serve() {
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  serveDocs(app, endpoints, '9.9.9')
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, [Symbol.asyncDispose]: async () => void (await app.close()) }
}

test('the document contains every endpoint and the running version', async () => {
  await using server = await serve()
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    info: { version: string }
    paths: Record<string, Record<string, unknown>>
  }
  assert.equal(document.info.version, '9.9.9')
  for (const { method, path } of endpoints)
    assert.ok(document.paths[path]?.[method.toLowerCase()], `${method} ${path}`)
})

test('the interactive page shows the endpoints, without a request to another host', async () => {
  await using server = await serve()
  await using browser = await chromium.launch({
    executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
  const page = await browser.newPage()
  page.setDefaultTimeout(120_000)
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
      foreign.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(`${server.url}/docs`)
  // The page renders only the visible part, so the test filters by tag as a reader would.
  await page.getByPlaceholder('Filter by tag').fill('Signing in')
  await page.locator('[data-path="/api/auth/validate"]').waitFor()
  await page.getByRole('button', { name: /Authorize/ }).waitFor()
  assert.deepEqual(foreign, [])
  assert.deepEqual(errors, [])
})
