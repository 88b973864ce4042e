import asyncio, re, pathlib, subprocess
from typing import cast
import pytest
from ollm_tui.core.provider import TextDelta
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.widgets.compression_panel import CompressionPanel
from tests.engine.test_compression import settings, SUMMARY, gardener, is_summary, PARAGRAPH
from tests.tui.test_compressing_in_the_chat import fill, workers_done, chat_of
OUT=pathlib.Path('/tmp/h5/shots'); OUT.mkdir(exist_ok=True)
def shot(app,name,size):
    svg=re.sub(r'@font-face \{.*?\}','',app.export_screenshot(),flags=re.S)
    (OUT/f'{name}_{size[0]}x{size[1]}.html').write_text(f'<body style="margin:0;background:#000">{svg}</body>')
@pytest.mark.parametrize('size',[(60,20),(80,24),(120,40)])
async def test_shots(open_app,size):
    release=asyncio.Event()
    prov=gardener(lambda _: [TextDelta("The user plans a garden behind the house and asked for advice on soil. Decided: three raised beds, drip irrigation. "), release, TextDelta(SUMMARY)])
    async with open_app(prov, settings=settings(), size=size) as (app,pilot):
        await fill(app,pilot,8)
        app.screen.prompt.put("/compact",[])
        await pilot.press("enter"); await pilot.pause(0.7)
        shot(app,'1_live',size)
        app.screen.query_one(CompressionPanel).focus(); await pilot.pause(0.3)
        shot(app,'2_live_focus',size)
        await pilot.press("z"); await pilot.pause(0.5); shot(app,'3_whole',size)
        await pilot.press("e"); await pilot.pause(0.5); shot(app,'4_edit_waiting',size)
        release.set(); await pilot.pause(0.6); shot(app,'5_edit_ready',size)
        await pilot.press("e"); await pilot.pause(0.3); shot(app,'6_editing',size)
        await pilot.press("escape","enter"); await pilot.pause(); await workers_done(app); await pilot.pause(0.3)
        shot(app,'7_after',size)
        await pilot.press("alt+up","v"); await pilot.pause(0.3); shot(app,'8_checkpoints',size)
