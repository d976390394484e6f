import { signatureHeader, timestampHeader } from '@roost/contracts/triggers/webhooks'

/** The check of a call: URL only, a signature of the body, or of time and body. */
export type Check = 'none' | 'body' | 'time'

/**
 * A call to paste into a shell. The secret comes from the environment, so that it stays out of the shell
 * history.
 */
export function curlExample(url: string, check: Check): string {
  const body = `BODY='{"context": "Release 1.4 is out", "metadata": {"build": 118}}'`
  const call = `curl -X POST '${url}' \\\n  -H 'Content-Type: application/json'`
  if (check === 'none') return `${body}\n${call} \\\n  -d "$BODY"\n`
  const signed = check === 'body' ? `printf '%s' "$BODY"` : `printf '%s.%s' "$TIME" "$BODY"`
  const lines = [
    '# WEBHOOK_SECRET holds the signing secret',
    body,
    ...(check === 'time' ? ['TIME=$(date +%s)'] : []),
    `SIGNATURE=$(${signed} | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)`,
    `${call} \\`,
    ...(check === 'time' ? [`  -H "${timestampHeader}: $TIME" \\`] : []),
    `  -H "${signatureHeader}: sha256=$SIGNATURE" \\`,
    `  -d "$BODY"`,
  ]
  return `${lines.join('\n')}\n`
}

/** The same with Python's standard library. */
export function pythonExample(url: string, check: Check): string {
  const imports = ['json', 'urllib.request', ...(check === 'none' ? [] : ['hashlib', 'hmac', 'os'])]
  const signed = check === 'body' ? 'body' : 'time_text.encode() + b"." + body'
  const lines = [
    `import ${[...imports, ...(check === 'time' ? ['time'] : [])].sort().join(', ')}`,
    '',
    `body = json.dumps({"context": "Release 1.4 is out"}).encode()`,
    `headers = {"Content-Type": "application/json"}`,
    ...(check === 'time'
      ? ['time_text = str(int(time.time()))', `headers["${timestampHeader}"] = time_text`]
      : []),
    ...(check === 'none'
      ? []
      : [
          'secret = os.environ["WEBHOOK_SECRET"].encode()',
          `signature = hmac.new(secret, ${signed}, hashlib.sha256).hexdigest()`,
          `headers["${signatureHeader}"] = "sha256=" + signature`,
        ]),
    `request = urllib.request.Request("${url}", body, headers)`,
    'print(urllib.request.urlopen(request).read().decode())',
  ]
  return `${lines.join('\n')}\n`
}
